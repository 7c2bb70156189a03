//! An operation's input from a path, a query and a body.

use hub::{Entry, Error, Input, Method};
use memchr::memmem;
use protocol::unique_json::UniqueValue;
use serde::Serialize;
use serde_json::{Map, Value};

/// The fields of an operation that stand in its path.
pub(super) type Fields<'a> = Vec<(&'a str, Value)>;

/// Puts path, query and body together into one JSON object.
pub(super) fn assemble(
    entry: &Entry,
    fields: Fields<'_>,
    query: &str,
    body: Vec<u8>,
) -> Result<Input, Error> {
    let blank = body.iter().copied().all(is_blank);
    let map = |fields: Fields<'_>| {
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>()
    };
    if matches!(entry.route.method, Method::Get | Method::Delete) {
        let mut fields = map(fields);
        read_query(entry, query, &mut fields)?;
        if blank {
            return Ok(Input::Map(fields));
        }
        let fields: Fields<'_> =
            fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        return splice(fields, body);
    }
    if !query.is_empty() {
        return Err(Error::Invalid {
            field: String::new(),
            message: "this operation takes its input as a JSON body".to_owned(),
            hint: Some("move the query's parameters into the body".to_owned()),
        });
    }
    if blank { Ok(Input::Map(map(fields))) } else { splice(fields, body) }
}

/// Names and values are short; text grows where they are not.
const ROOM_FOR_EACH: usize = 64;

/// The fields of path and query behind the body's, so that what is said of a place in the body holds for
/// the body that was sent. A body that names one of them too must agree.
fn splice(fields: Fields<'_>, mut body: Vec<u8>) -> Result<Input, Error> {
    let missing = left_out(fields, &body)?;
    let end = body.iter().rposition(|byte| !is_blank(*byte)).unwrap_or(0);
    let is_object = body.iter().copied().find(|byte| !is_blank(*byte)) == Some(b'{');
    if missing.is_empty() || !is_object || body.get(end) != Some(&b'}') {
        // What is no object, the door says so of.
        return Ok(Input::Bytes(body));
    }
    body.truncate(end);
    body.reserve(ROOM_FOR_EACH * missing.len());
    let mut is_first = body.iter().copied().rfind(|byte| !is_blank(*byte)) == Some(b'{');
    for (name, value) in missing {
        if !std::mem::take(&mut is_first) {
            body.push(b',');
        }
        print(&mut body, name);
        body.push(b':');
        print(&mut body, &value);
    }
    body.push(b'}');
    Ok(Input::Bytes(body))
}

/// What JSON passes over between its words.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn print(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(text, value).expect("JSON prints as JSON, and a list of bytes takes it");
}

/// The fields that the body does not give. The body itself stays as it was sent: only the door may read it,
/// or its doubled keys would be lost on the way.
fn left_out<'a>(mut fields: Fields<'a>, body: &[u8]) -> Result<Fields<'a>, Error> {
    if fields.iter().any(|(name, _)| memmem::find(body, name.as_bytes()).is_some())
        && let Ok(Value::Object(given)) = serde_json::from_slice::<Value>(body)
    {
        let differs =
            |(name, value): &&(&str, Value)| given.get(*name).is_some_and(|given| given != value);
        if let Some((name, _)) = fields.iter().find(differs) {
            return Err(Error::invalid_hint(
                *name,
                "differs from the one that the URL names",
                "leave it out of the body",
            ));
        }
        fields.retain(|(name, _)| !given.contains_key(*name));
    }
    Ok(fields)
}

/// Each parameter becomes what the schema says its field is; what does not fit stays text, and the
/// door names the field.
fn read_query(entry: &Entry, query: &str, fields: &mut Map<String, Value>) -> Result<(), Error> {
    let properties = entry.fields();
    for (name, text) in form_pairs(query)? {
        let kinds = properties.and_then(|all| all.get(&name)).map(kinds).unwrap_or_default();
        let has = |kind: &str| kinds.iter().any(|known| known == kind);
        let value = match text.as_str() {
            "true" | "false" if has("boolean") => Value::Bool(text == "true"),
            _ if has("object") => serde_json::from_str::<UniqueValue>(&text)
                .map_or(Value::String(text), |UniqueValue(object)| object),
            _ if has("integer") => text.parse::<i64>().map_or(Value::String(text), Value::from),
            _ => Value::String(text),
        };
        if has("array") {
            let list = fields.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(value);
            }
        } else if fields.insert(name.clone(), value).is_some() {
            return Err(Error::invalid(name, "stands there twice"));
        }
    }
    Ok(())
}

/// The types that a schema names.
pub(super) fn kinds(property: &Value) -> Vec<String> {
    match property.get("type") {
        Some(Value::String(kind)) => vec![kind.clone()],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

pub(crate) fn form_pairs(query: &str) -> Result<Vec<(String, String)>, Error> {
    let decode = |text: &str| {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let mut digit = || char::from(rest.next()?).to_digit(16);
                    u8::try_from(digit()? * 16 + digit()?).ok()?
                }
                byte => byte,
            });
        }
        String::from_utf8(bytes).ok()
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(name)?, decode(value)?))
    });
    pairs.collect::<Option<Vec<_>>>().ok_or_else(|| Error::Invalid {
        field: String::new(),
        message: "the query is not percent-encoded UTF-8".to_owned(),
        hint: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: Input) -> String {
        match input {
            Input::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
            Input::Map(map) => Value::Object(map).to_string(),
        }
    }

    #[test]
    fn path_fields_stand_behind_those_of_the_body() {
        let fields = || vec![("id", Value::from("a\"b"))];
        let spliced = |body: &str| splice(fields(), body.as_bytes().to_vec()).map(text);
        for (body, expected) in [
            (" {\"x\":1}", r#" {"x":1,"id":"a\"b"}"#),
            ("{ }\r\n", r#"{ "id":"a\"b"}"#),
            (r#"{"id":"a\"b","x":1}"#, r#"{"id":"a\"b","x":1}"#),
            // What is wrong stays as it is, for the door to say where.
            ("[1]", "[1]"),
            ("{", "{"),
            ("\u{c}{}", "\u{c}{}"),
            ("}", "}"),
            ("{\"x\":tru}", r#"{"x":tru,"id":"a\"b"}"#),
            // A body that says it twice keeps both, and the door refuses the double.
            (r#"{"id":"c","id":"a\"b"}"#, r#"{"id":"c","id":"a\"b"}"#),
        ] {
            assert_eq!(spliced(body).unwrap(), expected);
        }
        let error = spliced(r#"{"id":"c"}"#).unwrap_err();
        assert_eq!(error.to_string(), "id differs from the one that the URL names");
    }

    #[test]
    fn an_object_in_a_query_is_json() {
        let catalogue = hub::catalogue();
        let entry = catalogue.get("list_chats").unwrap();
        let read = |query: &str| assemble(entry, Vec::new(), query, Vec::new()).map(text).unwrap();
        assert_eq!(
            read("filter=%7B%22chat_type%22%3A%22group%22%7D&limit=7"),
            r#"{"filter":{"chat_type":"group"},"limit":7}"#
        );
        // What is none stays as it is, for the door to say so.
        for odd in ["group", "%7B", "%7B%22a%22:1,%22a%22:1%7D"] {
            assert!(read(&format!("filter={odd}")).starts_with(r#"{"filter":""#), "{odd}");
        }
    }

    #[test]
    fn queries_are_decoded_once() {
        let pairs = form_pairs("a=b%20c+d&e&=f&g=%25").unwrap();
        assert_eq!(pairs[0], ("a".to_owned(), "b c d".to_owned()));
        assert_eq!(pairs[1], ("e".to_owned(), String::new()));
        assert_eq!(pairs[3], ("g".to_owned(), "%".to_owned()));
        for bad in ["a=%zz", "a=%ff", "a=%+1", "a=%", "a=%1"] {
            assert!(form_pairs(bad).is_err(), "{bad}");
        }
    }
}
