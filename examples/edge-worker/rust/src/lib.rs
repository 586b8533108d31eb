//! An edge worker that tells how many rooms a hotel has free. It asks the hotel's
//! property-management system (PMS), and goes on answering where that is down.
#![cfg(all(target_family = "wasm", target_os = "unknown"))]

mod abort;
mod answer;
mod last_good;
mod pms;

use worker::{Context, Env, Request, Response, Result, Router, event};

/// The variable that says where the PMS is: `https://pms.example`.
const PMS_URL: &str = "PMS_URL";

#[event(fetch)]
async fn fetch(request: Request, env: Env, _: Context) -> Result<Response> {
    Router::new()
        .get_async("/inventory/:hotel", async |_, route| {
            let hotel = route.param("hotel").map_or("", String::as_str);
            let Some(hotel) = pms::Hotel::named(hotel) else {
                return answer::bad_request(pms::Hotel::EXPECTED);
            };
            let url = route.var(PMS_URL).map(|url| url.to_string());
            let Some(pms) = url.ok().as_deref().and_then(pms::Pms::at) else {
                return answer::misconfigured(PMS_URL);
            };
            answer::of(hotel, pms::inventory(&pms, hotel).await)
        })
        .run(request, env)
        .await
}
