//! The prompts.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, GetPromptResult};
use serde_json::{Value, json};

use crate::fixtures::PNG;
use crate::inputs::{accepted, ask, question};
use crate::result;

/// Every prompt.
pub(crate) fn list() -> Value {
    let argument = |name: &str| json!({ "name": name, "description": "A word", "required": true });
    let prompt = |name: &str, arguments: Vec<Value>| json!({ "name": name, "description": "A prompt for testing", "arguments": arguments });
    let prompts = [
        prompt("test_simple_prompt", vec![]),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", vec![]),
        prompt("test_input_required_result_prompt", vec![]),
    ];
    json!({ "prompts": prompts, "ttlMs": 0, "cacheScope": "private" })
}

/// One prompt.
pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        value.ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            json!({ "type": "resource", "resource": {
                "uri": argument("resourceUri")?,
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            } }),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            json!({ "type": "image", "data": PNG, "mimeType": "image/png" }),
            text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let given = accepted(request.input_responses.as_ref(), "user_context", "context");
            let Some(given) = given else {
                let asked = question("What context should the prompt use?", "context", "string");
                return ask(&json!({ "user_context": asked }), None).map(Into::into);
            };
            vec![text(&format!("Use this context: {given}"))]
        }
        unknown => {
            return Err(ErrorData::invalid_params(format!("Unknown prompt: {unknown}"), None));
        }
    };
    let messages: Vec<Value> =
        messages.iter().map(|content| json!({ "role": "user", "content": content })).collect();
    result::<GetPromptResult>(json!({ "messages": messages })).map(Into::into)
}
