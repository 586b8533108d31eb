//! Options that are not there, and things that are no options.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(treshold = 5)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(rest = "30s")]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_failures = 5)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(success_threshold = 2)]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(cooldown = "30s")]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(frobnicate = |a, b| 5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(retry)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(retry, threshold = 0)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(retry(3), threshold = 0)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker("30s")]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(5)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(5, threshold = 0)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 3 reset = 30)]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(, threshold = 3)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 3,,)]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker({ threshold = 3 })]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker([threshold])]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold::limit = 3)]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(key a::b)]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = is_transient threshold = 0)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 3; reset = "3s")]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(Threshold = 3)]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(predicate = is_transient)]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_error = is_transient)]
async fn case_23() -> Answer {
    Ok(1)
}

#[circuit_breaker(half_open = 2)]
async fn case_24() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset_after = "30s")]
async fn case_25() -> Answer {
    Ok(1)
}

#[circuit_breaker(rate = 0.5, min_calls = 10)]
async fn case_26() -> Answer {
    Ok(1)
}

#[circuit_breaker(failureRate = 0.5, max-reset = "3s")]
async fn case_27() -> Answer {
    Ok(1)
}

#[circuit_breaker(resetTimeout = "30s", failure-threshold = 5, probe-timeout = 0)]
async fn case_28() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback_method = cached, ignore_errors = is_bad_request, recover = cached)]
async fn case_29() -> Answer {
    Ok(1)
}

#[circuit_breaker(waitDurationInOpenState = "30s", permitted_number_of_calls_in_half_open_state = 3)]
async fn case_30() -> Answer {
    Ok(1)
}

#[circuit_breaker(delay = "30s", retry_after = "30s", frobnicate = 5, 30)]
async fn case_31() -> Answer {
    Ok(1)
}

#[circuit_breaker(PMS)]
async fn case_32() -> Answer {
    Ok(1)
}

#[circuit_breaker(pms::PMS, timeout = 5)]
async fn case_33() -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(self.breaker)]
    async fn case_34(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(&self.breakers.pms)]
    async fn case_35(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(circuit = self.breaker)]
    async fn case_36(&self) -> Answer {
        Ok(1)
    }
}

fn main() {}
