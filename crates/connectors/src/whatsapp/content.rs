//! What a message of WhatsApp holds, by its type.

use protocol::chat::{Attachment, ContentType, MessageFact};
use serde_json::{Value, json};

use crate::foreign::{Foreign, refusal};

/// Fills a message in with what it holds.
pub(super) fn fill(message: &mut MessageFact, value: &Value) {
    let kind = value.text("type").unwrap_or("unknown");
    let body = value.get(kind).unwrap_or(&Value::Null);
    let found = match kind {
        "text" => body.text("body").map(|text| (ContentType::Text, text.to_owned())),
        "image" => media(message, body, ContentType::Image),
        "video" => media(message, body, ContentType::Video),
        "audio" if body.is_set("voice") => media(message, body, ContentType::Voice),
        "audio" => media(message, body, ContentType::Audio),
        "voice" => media(message, body, ContentType::Voice),
        "document" => media(message, body, ContentType::File),
        "sticker" => media(message, body, ContentType::Sticker),
        "location" => Some(location(message, body)),
        "contacts" => Some((ContentType::Contact, cards(value.list("contacts")))),
        "interactive" => interactive(message, body),
        "button" => body.text("text").map(|text| (ContentType::Text, text.to_owned())),
        "order" => Some(order(message, body)),
        "system" => Some((ContentType::Service, body.text("body").unwrap_or_default().to_owned())),
        "request_welcome" => Some((ContentType::Service, "opened the chat".to_owned())),
        _ => None,
    };
    let (content, text) = found.unwrap_or_else(|| other(message, kind, value));
    message.content = content;
    message.text = text;
    context(message, value);
}

/// A file, with its caption as the words.
fn media(
    message: &mut MessageFact,
    body: &Value,
    content: ContentType,
) -> Option<(ContentType, String)> {
    message.attachments.push(Attachment {
        remote_id: Some(body.text("id")?.to_owned()),
        name: body.text("filename").map(str::to_owned),
        mime_type: body.text("mime_type").map(str::to_owned),
        bytes: None,
        seconds: None,
    });
    Some((content, body.text("caption").unwrap_or_default().to_owned()))
}

fn location(message: &mut MessageFact, body: &Value) -> (ContentType, String) {
    let place: Vec<&str> =
        [body.text("name"), body.text("address")].into_iter().flatten().collect();
    let at = |name: &str| body.get(name).and_then(Value::as_f64);
    let mut text = place.join(", ");
    if let (Some(latitude), Some(longitude)) = (at("latitude"), at("longitude")) {
        let coordinates = json!({ "latitude": latitude, "longitude": longitude });
        message.extra.insert("location".to_owned(), coordinates);
        if text.is_empty() {
            text = format!("{latitude}, {longitude}");
        }
    }
    (ContentType::Location, text)
}

fn cards(contacts: &[Value]) -> String {
    let card = |contact: &Value| {
        let name = contact
            .object("name")
            .and_then(|name| name.text("formatted_name").or(name.text("first_name")));
        let phones = contact.list("phones").iter().filter_map(|phone| phone.text("phone"));
        let emails = contact.list("emails").iter().filter_map(|email| email.text("email"));
        name.into_iter().chain(phones).chain(emails).collect::<Vec<_>>().join(", ")
    };
    contacts.iter().map(card).collect::<Vec<_>>().join("\n")
}

/// A choice that somebody made.
fn interactive(message: &mut MessageFact, body: &Value) -> Option<(ContentType, String)> {
    let kind = body.text("type")?;
    let choice = body.object(kind)?;
    let text = choice.text("title").or(choice.text("body")).or(choice.text("name"))?;
    message.extra.insert(kind.to_owned(), choice.clone());
    Some((ContentType::Text, text.to_owned()))
}

fn order(message: &mut MessageFact, body: &Value) -> (ContentType, String) {
    let mut lines: Vec<String> = body.text("text").map(str::to_owned).into_iter().collect();
    for item in body.list("product_items") {
        let number = |name: &str| item.get(name).map(ToString::to_string).unwrap_or_default();
        lines.push(format!(
            "{} × {} ({} {})",
            number("quantity"),
            item.text("product_retailer_id").unwrap_or("?"),
            number("item_price"),
            item.text("currency").unwrap_or_default(),
        ));
    }
    message.extra.insert("whatsapp".to_owned(), Value::from("order"));
    (ContentType::Other, lines.join("\n"))
}

/// What the hub does not know, or WhatsApp does not hand out; it says what it was.
fn other(message: &mut MessageFact, kind: &str, value: &Value) -> (ContentType, String) {
    let called = value.object("unsupported").and_then(|inner| inner.text("type")).unwrap_or(kind);
    message.extra.insert("whatsapp".to_owned(), Value::from(called));
    if let Some(error) = value.list("errors").first() {
        message.extra.insert("error".to_owned(), said(error));
    }
    (ContentType::Other, String::new())
}

/// What went wrong, in short.
pub(super) fn said(error: &Value) -> Value {
    let title = error.text("title").or(error.text("message")).unwrap_or_default();
    json!({ "code": error.number("code"), "title": refusal(title) })
}

/// What a message answers, and where it comes from.
fn context(message: &mut MessageFact, value: &Value) {
    if let Some(context) = value.object("context") {
        message.reply_to = context.text("id").map(str::to_owned);
        for name in ["forwarded", "frequently_forwarded"] {
            if context.is_set(name) {
                message.extra.insert(name.to_owned(), Value::Bool(true));
            }
        }
        if let Some(product) = context.object("referred_product") {
            message.extra.insert("referred_product".to_owned(), product.clone());
        }
    }
    if let Some(referral) = value.object("referral") {
        let kept = ["source_url", "source_type", "headline", "body"];
        let kept = kept.iter().filter_map(|name| Some(((*name).to_owned(), referral.get(*name)?)));
        let kept = kept.map(|(name, value)| (name, value.clone())).collect();
        message.extra.insert("referral".to_owned(), Value::Object(kept));
    }
}
