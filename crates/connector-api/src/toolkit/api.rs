//! Calling the API of a service: any method, headers and body, under the client's rules.

use std::time::Duration;

use protocol::{Secret, Timestamp, limits};
use reqwest::Url;
use serde_json::Value;

use super::destination::Destination;
use super::http::{HttpClient, HttpError};

/// One call of an API. Its address may hold a token, so it does not print.
#[derive(Clone)]
pub struct ApiRequest {
    method: reqwest::Method,
    url: Url,
    headers: Vec<(&'static str, Secret<String>)>,
    body: Body,
    timeout: Duration,
    bytes_max: usize,
}

#[derive(Clone)]
enum Body {
    None,
    Json(Value),
    Form(Vec<(String, String)>),
    Bytes(&'static str, Vec<u8>),
}

impl std::fmt::Debug for ApiRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ApiRequest {{ {} {} *** }}",
            self.method,
            self.url.host_str().unwrap_or_default()
        )
    }
}

/// What a service answered. Its status is for the connector to read: many say more in the body.
#[derive(Clone, Debug)]
pub struct ApiAnswer {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After`, in seconds.
    pub retry_after: Option<Duration>,
    /// `Date`: the moment it was, by the service's clock.
    pub date: Option<Timestamp>,
    /// Headers, their names in lower case; those that are not text are left out.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl ApiAnswer {
    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header; the first where there are several. The name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl ApiRequest {
    /// Asks for something below a base address. `path` is appended as it stands.
    pub fn get(base: &Destination, path: &str) -> Result<Self, HttpError> {
        Self::new(reqwest::Method::GET, base, path)
    }

    /// Does something below a base address.
    pub fn post(base: &Destination, path: &str) -> Result<Self, HttpError> {
        Self::new(reqwest::Method::POST, base, path)
    }

    /// Changes something below a base address.
    pub fn patch(base: &Destination, path: &str) -> Result<Self, HttpError> {
        Self::new(reqwest::Method::PATCH, base, path)
    }

    /// Puts something in the place of what is below a base address.
    pub fn put(base: &Destination, path: &str) -> Result<Self, HttpError> {
        Self::new(reqwest::Method::PUT, base, path)
    }

    /// Removes something below a base address.
    pub fn delete(base: &Destination, path: &str) -> Result<Self, HttpError> {
        Self::new(reqwest::Method::DELETE, base, path)
    }

    /// Asks for exactly this address, its query included: where a service said a file lies.
    pub fn at(destination: &Destination) -> Self {
        Self::to(reqwest::Method::GET, destination.url().clone())
    }

    /// Does something at exactly this address, its query included: a webhook.
    pub fn post_to(destination: &Destination) -> Self {
        Self::to(reqwest::Method::POST, destination.url().clone())
    }

    fn new(method: reqwest::Method, base: &Destination, path: &str) -> Result<Self, HttpError> {
        Ok(Self::to(method, base.below(path)?))
    }

    fn to(method: reqwest::Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: Vec::new(),
            body: Body::None,
            timeout: limits::EGRESS_TIMEOUT,
            bytes_max: limits::API_ANSWER_BYTES_MAX,
        }
    }

    /// With a parameter in the query.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// With a header, whose value is never printed.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, Secret::new(value.into())));
        self
    }

    /// With `Authorization: Bearer …`.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// With JSON.
    #[must_use]
    pub fn json(mut self, body: Value) -> Self {
        self.body = Body::Json(body);
        self
    }

    /// With a form.
    #[must_use]
    pub fn form(mut self, fields: Vec<(String, String)>) -> Self {
        self.body = Body::Form(fields);
        self
    }

    /// With these very bytes, and what sort of content they are: for what is signed.
    #[must_use]
    pub fn bytes(mut self, content_type: &'static str, body: Vec<u8>) -> Self {
        self.body = Body::Bytes(content_type, body);
        self
    }

    /// Waiting longer, or less long, for the whole answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Taking a larger, or only a smaller, answer.
    #[must_use]
    pub fn bytes_max(mut self, bytes_max: usize) -> Self {
        self.bytes_max = bytes_max;
        self
    }
}

impl HttpClient {
    /// Makes a call and reads the whole answer.
    pub async fn call(&self, request: ApiRequest) -> Result<ApiAnswer, HttpError> {
        let bytes_max = request.bytes_max;
        let timeout = request.timeout;
        let answer = self.start(request, Some(timeout)).await?;
        let status = answer.status().as_u16();
        let retry_after = retry_after(&answer);
        let date = date(&answer);
        let headers = headers(&answer);
        let body = read(answer, bytes_max).await?;
        Ok(ApiAnswer { status, retry_after, date, headers, body })
    }

    /// Makes a call whose answer does not end; [`ApiStream::next`] gives it piece by piece. The
    /// timeout covers each piece.
    pub async fn open_stream(&self, request: ApiRequest) -> Result<ApiStream, HttpError> {
        let stream = self.open_any_stream(request).await?;
        if !(200..300).contains(&stream.status()) {
            return Err(HttpError::Status(stream.status()));
        }
        Ok(stream)
    }

    /// The same, whatever its status is.
    pub async fn open_any_stream(&self, request: ApiRequest) -> Result<ApiStream, HttpError> {
        let silence_max = request.timeout;
        let answer = tokio::time::timeout(silence_max, self.start(request, None))
            .await
            .map_err(|_| HttpError::Silent)??;
        Ok(ApiStream { answer, silence_max })
    }

    async fn start(
        &self,
        request: ApiRequest,
        timeout: Option<Duration>,
    ) -> Result<reqwest::Response, HttpError> {
        let mut builder = self.client().request(request.method, request.url);
        // Without a timeout of its own a request would get the client's.
        builder = builder.timeout(timeout.unwrap_or(Duration::from_hours(24 * 365)));
        for (name, value) in &request.headers {
            builder = builder.header(*name, value.expose());
        }
        builder = match request.body {
            Body::None => builder,
            Body::Json(body) => builder.json(&body),
            Body::Bytes(kind, body) => builder.header("content-type", kind).body(body),
            Body::Form(fields) => {
                let text = url_encoded(&fields);
                builder.header("content-type", "application/x-www-form-urlencoded").body(text)
            }
        };
        builder.send().await.map_err(no_answer)
    }
}

fn url_encoded(fields: &[(String, String)]) -> String {
    let mut url = Url::parse("http://form/").expect("this is a URL");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

/// An answer that does not end.
#[derive(Debug)]
pub struct ApiStream {
    answer: reqwest::Response,
    silence_max: Duration,
}

impl ApiStream {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.answer.status().as_u16()
    }

    /// A header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.answer.headers().get(name)?.to_str().ok()
    }

    /// The next piece; `None` when the other side has ended the answer.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        let piece = tokio::time::timeout(self.silence_max, self.answer.chunk())
            .await
            .map_err(|_| HttpError::Silent)?;
        Ok(piece.map_err(no_answer)?.map(Into::into))
    }
}

/// What lies behind a failure, without the URL, which may hold a token.
pub(super) fn no_answer(error: reqwest::Error) -> HttpError {
    HttpError::NoAnswer(error.without_url())
}

fn retry_after(answer: &reqwest::Response) -> Option<Duration> {
    let text = answer.headers().get("retry-after")?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

fn date(answer: &reqwest::Response) -> Option<Timestamp> {
    let text = answer.headers().get("date")?.to_str().ok()?;
    let moment = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(Timestamp::from_ms(moment.timestamp().as_millisecond()))
}

fn headers(answer: &reqwest::Response) -> Vec<(String, String)> {
    let text = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    answer.headers().iter().filter_map(text).collect()
}

/// Reads a body up to a limit.
pub(super) async fn read(
    mut answer: reqwest::Response,
    bytes_max: usize,
) -> Result<Vec<u8>, HttpError> {
    let announced = answer.content_length().unwrap_or(0);
    if usize::try_from(announced).is_ok_and(|bytes| bytes > bytes_max) {
        return Err(HttpError::TooLarge { bytes_max });
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(no_answer)? {
        if body.len().saturating_add(chunk.len()) > bytes_max {
            return Err(HttpError::TooLarge { bytes_max });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
