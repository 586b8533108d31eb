//! AWS JSON 1.1, as far as `GetCostAndUsage` needs it.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

const JSON: &str = "application/x-amz-json-1.1";
const TARGET: &str = "AWSInsightsIndexService.GetCostAndUsage";

pub(super) type Reply = Response<Full<Bytes>>;

/// A request that makes sense, as far as can be told without a calendar.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) account: String,
    pub(super) request: GetCostAndUsage,
}

/// The request's body.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct GetCostAndUsage {
    pub(super) time_period: TimePeriod,
    granularity: String,
    metrics: Vec<String>,
    group_by: Vec<GroupBy>,
    pub(super) next_page_token: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct TimePeriod {
    pub(super) start: String,
    pub(super) end: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GroupBy {
    r#type: String,
    key: String,
}

/// What the service says in place of an answer.
#[derive(Debug)]
pub(super) struct Exception {
    status: StatusCode,
    code: &'static str,
    message: &'static str,
    retry_after: Option<u32>,
}

/// Reads a request: whose it is, and what it asks for.
pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Asked, Exception> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("x-amz-target") != Some(TARGET) || text(CONTENT_TYPE.as_str()) != Some(JSON) {
        return Err(Exception::of_client(
            "UnknownOperationException",
            "this server knows GetCostAndUsage",
        ));
    }
    let account = text(AUTHORIZATION.as_str())
        .and_then(account)
        .ok_or_else(|| {
            Exception::of_client(
                "InvalidSignatureException",
                "credentials have to be for ce in us-east-1",
            )
        })?;
    let request: GetCostAndUsage = serde_json::from_slice(body).map_err(|_| {
        Exception::of_client(
            "SerializationException",
            "the body is not a GetCostAndUsage",
        )
    })?;
    let by_service =
        matches!(&*request.group_by, [by] if by.r#type == "DIMENSION" && by.key == "SERVICE");
    if request.granularity != "DAILY" || request.metrics != ["UnblendedCost"] || !by_service {
        return Err(Exception::invalid(
            "this server knows UnblendedCost by day and service",
        ));
    }
    Ok(Asked { account, request })
}

/// Whose credentials signed a request, as the server on loopback names them; it doesn't check the
/// signature itself. `None` where they are not for Cost Explorer in its region.
fn account(authorization: &str) -> Option<String> {
    let credential = authorization.strip_prefix("AWS4-HMAC-SHA256 Credential=")?;
    let scope: Vec<&str> = credential.split(',').next()?.split('/').collect();
    match scope[..] {
        [id, _day, "us-east-1", "ce", "aws4_request"] => Some(id.strip_prefix("AKIA")?.to_owned()),
        _ => None,
    }
}

impl Exception {
    pub(super) const fn of_client(code: &'static str, message: &'static str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code,
            message,
            retry_after: None,
        }
    }

    pub(super) const fn invalid(message: &'static str) -> Self {
        Self::of_client("ValidationException", message)
    }

    pub(super) const fn throttled(retry_after: Option<u32>) -> Self {
        Self {
            retry_after,
            ..Self::of_client("LimitExceededException", "Rate limit exceeded")
        }
    }

    pub(super) const fn data_unavailable() -> Self {
        Self::of_client(
            "DataUnavailableException",
            "Data is not available. Please try again later",
        )
    }

    pub(super) const fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self {
            status,
            ..Self::of_client("InternalFailure", "the service broke")
        }
    }

    pub(super) fn reply(&self) -> Reply {
        let mut reply = success(&json!({ "__type": self.code, "Message": self.message }));
        *reply.status_mut() = self.status;
        if let Some(seconds) = self.retry_after {
            reply.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        reply
    }
}

pub(super) fn success(body: &Value) -> Reply {
    let mut reply = Response::new(Full::new(body.to_string().into()));
    reply
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    reply
}
