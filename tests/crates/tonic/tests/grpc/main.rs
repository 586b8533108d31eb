//! tonic's clients and servers on loopback.

#[path = "../../../block_on.rs"]
mod block_on;
mod codes;
mod details;
mod layers;
mod streams;
mod transport;

use block_on::block_on;
use breakerbox::{Breaker, CallError, OnCancel, Settings};
use http::uri::PathAndQuery;
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::client::{Grpc, GrpcService};
use tonic::server::{Grpc as ServerGrpc, NamedService, ServerStreamingService, UnaryService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

const RESET: Duration = Duration::from_secs(30);

/// It gives up after one failure.
fn breaker(settings: Settings) -> Arc<Breaker> {
    let settings = settings.threshold(1).reset(RESET).jitter(0.0);
    Arc::new(Breaker::new("pms", settings.must()))
}

/// What the server shall do.
#[derive(Clone, PartialEq, prost::Message)]
struct Question {
    /// So many answers..
    #[prost(uint32, tag = "1")]
    answers: u32,
    /// .. and then this code.
    #[prost(int32, tag = "2")]
    code: i32,
    #[prost(string, tag = "3")]
    message: String,
    /// Of a `google.rpc.Status`.
    #[prost(bytes = "vec", tag = "4")]
    details: Vec<u8>,
    /// Metadata beside the code.
    #[prost(string, tag = "5")]
    key: String,
    #[prost(string, tag = "6")]
    value: String,
    /// It never comes to the end.
    #[prost(bool, tag = "7")]
    hangs: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Rooms {
    #[prost(uint32, tag = "1")]
    left: u32,
}

fn code(code: Code) -> Question {
    Question {
        code: code.into(),
        ..Question::default()
    }
}

/// Ends as it is asked.
async fn end(question: &Question) -> Result<(), Status> {
    if question.hangs {
        pending::<()>().await;
    }
    let code = Code::from(question.code);
    if code == Code::Ok {
        return Ok(());
    }
    let details = question.details.clone().into();
    let mut status = Status::with_details(code, question.message.clone(), details);
    if !question.key.is_empty() {
        let key: tonic::metadata::AsciiMetadataKey = question.key.parse().unwrap();
        let value = question.value.parse().unwrap();
        status.metadata_mut().insert(key, value);
    }
    Err(status)
}

/// The service, as `tonic-build` would write it.
#[derive(Clone)]
struct Pms;

impl NamedService for Pms {
    const NAME: &'static str = "pms.Pms";
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Answers = Pin<Box<dyn Stream<Item = Result<Rooms, Status>> + Send>>;

impl UnaryService<Question> for Pms {
    type Response = Rooms;
    type Future = Boxed<Result<Response<Rooms>, Status>>;

    fn call(&mut self, question: Request<Question>) -> Self::Future {
        Box::pin(async move {
            end(question.get_ref()).await?;
            Ok(Response::new(Rooms { left: 7 }))
        })
    }
}

impl ServerStreamingService<Question> for Pms {
    type Response = Rooms;
    type ResponseStream = Answers;
    type Future = Boxed<Result<Response<Answers>, Status>>;

    fn call(&mut self, question: Request<Question>) -> Self::Future {
        let question = question.into_inner();
        let answers = (0..question.answers).map(|left| Ok(Rooms { left }));
        let (sender, receiver) = tokio::sync::mpsc::channel(64);
        for answer in answers {
            sender.try_send(answer).unwrap();
        }
        tokio::spawn(async move {
            if let Err(status) = end(&question).await {
                let _ = sender.send(Err(status)).await;
            }
        });
        let answers = tokio_stream::wrappers::ReceiverStream::new(receiver);
        Box::pin(async { Ok(Response::new(Box::pin(answers) as Answers)) })
    }
}

impl tower::Service<http::Request<Body>> for Pms {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Boxed<Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut server = ServerGrpc::new(ProstCodec::<Rooms, Question>::default());
            Ok(match request.uri().path() {
                "/pms.Pms/Rooms" => server.unary(Self, request).await,
                "/pms.Pms/Watch" => server.server_streaming(Self, request).await,
                _ => Status::unimplemented("no such method").into_http(),
            })
        })
    }
}

/// The client, as `tonic-build` would write it.
#[derive(Clone)]
struct PmsClient<T>(Grpc<T>);

impl<T> PmsClient<T>
where
    T: GrpcService<Body>,
    T::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    T::ResponseBody: BodyExt<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send>
        + Send
        + 'static,
{
    fn new(inner: T) -> Self {
        Self(Grpc::new(inner))
    }

    async fn ready(&mut self) -> Result<(), Status> {
        let ready = self.0.ready().await;
        ready.map_err(|error| Status::unknown(format!("not ready: {}", error.into())))
    }

    async fn rooms(&mut self, question: Question) -> Result<u32, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static("/pms.Pms/Rooms");
        let codec = ProstCodec::<Question, Rooms>::default();
        let answer = self.0.unary(Request::new(question), path, codec).await?;
        Ok(answer.into_inner().left)
    }

    async fn watch(&mut self, question: Question) -> Result<Streaming<Rooms>, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static("/pms.Pms/Watch");
        let codec = ProstCodec::<Question, Rooms>::default();
        let answer = self.0.server_streaming(Request::new(question), path, codec);
        Ok(answer.await?.into_inner())
    }
}

/// Serves on loopback, and says where.
async fn serve() -> Endpoint {
    serve_by(Server::builder().add_service(Pms)).await
}

async fn serve_by<L, B>(router: tonic::transport::server::Router<L>) -> Endpoint
where
    L: tower::Layer<tonic::service::Routes> + Clone + Send + 'static,
    L::Service:
        tower::Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + 'static,
    <L::Service as tower::Service<http::Request<Body>>>::Future: Send,
    <L::Service as tower::Service<http::Request<Body>>>::Error:
        Into<Box<dyn std::error::Error + Send + Sync>> + Send,
    B: BodyExt<Data = prost::bytes::Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
    tokio::spawn(async { router.serve_with_incoming(incoming).await.unwrap() });
    Endpoint::from_shared(format!("http://{address}")).unwrap()
}

async fn client() -> PmsClient<Channel> {
    PmsClient::new(serve().await.connect().await.unwrap())
}
