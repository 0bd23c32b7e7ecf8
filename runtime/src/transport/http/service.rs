//! The endpoint as a tower service: it receives requests, and hands each to what serves its method.
//!
//! The future of a request is a plain enum. A request whose answer is ready when its body is there costs no task, no
//! channel and no boxed future.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use http::{Method, header, request::Parts};
use http_body::Body as _;
use tokio::time::{Sleep, sleep};

use super::{
    endpoint::Endpoint,
    fields::{Found, SenderHeaders},
    listen,
    media::{self, Accepts},
    message_body::{RequestBody, Response, ResponseBody},
    post,
    spare::WORTH_KEEPING,
    state::ResponseState,
};
#[cfg(doc)]
use crate::Principal;
use crate::gate::Refusal;

/// The Streamable HTTP endpoint of a server, as a [`tower`](https://docs.rs/tower) service.
///
/// It answers at whatever path it is mounted. [`into_router`](crate::Server::into_router) wraps it into an
/// [`axum::Router`]; use the service itself with other frameworks. Clones share everything.
///
/// A [`Principal`] in the extensions of a request, put there by a layer, is who calls. Tools reach the request's
/// [`http::request::Parts`] by [`Context::extension`](crate::Context::extension).
#[derive(Clone)]
pub struct HttpService(Arc<Endpoint>);

impl HttpService {
    pub(crate) fn new(endpoint: Arc<Endpoint>) -> Self {
        Self(endpoint)
    }

    pub(crate) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.0
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("engine", &self.0.engine)
            .finish_non_exhaustive()
    }
}

impl tower::Service<Request> for HttpService {
    type Response = axum::response::Response;
    type Error = Infallible;
    type Future = HttpFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> HttpFuture {
        let (parts, body) = request.into_parts();
        HttpFuture(self.0.start(parts, RequestBody::Routed(body)))
    }
}

/// The response of an [`HttpService`].
pub struct HttpFuture(Progress);

/// How far a request is.
pub(super) enum Progress {
    /// The body of a POST comes in.
    Receiving(Box<Receiving>),
    Answering(ResponseState),
}

impl fmt::Debug for HttpFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpFuture")
    }
}

impl Future for HttpFuture {
    type Output = Result<axum::response::Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.get_mut().0.poll(cx));
        Poll::Ready(Ok(response.map(ResponseBody::into_axum)))
    }
}

impl Progress {
    /// The response, once. Polled after that: never ready again.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        loop {
            match self {
                Self::Receiving(receiving) => {
                    *self = Self::Answering(ready!(receiving.poll(cx)));
                }
                Self::Answering(ResponseState::Done(response)) => {
                    return response.take().map_or(Poll::Pending, Poll::Ready);
                }
                Self::Answering(ResponseState::Waiting(future)) => {
                    let response = ready!(future.as_mut().poll(cx));
                    *self = Self::Answering(ResponseState::Done(Some(response)));
                }
            }
        }
    }
}

/// How many times as much as came may be reserved for what is promised.
const CREDIT: usize = 16;

/// A POST whose body comes in.
pub(super) struct Receiving {
    endpoint: Arc<Endpoint>,
    parts: Option<Arc<Parts>>,
    body: RequestBody,
    /// The body so far. One that comes in one piece is not copied.
    first: Bytes,
    more: BytesMut,
    /// When the body must be here; set once it has to be waited for.
    deadline: Option<Pin<Box<Sleep>>>,
    accepts: Accepts,
}

impl Receiving {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ResponseState> {
        let whole = match self.poll_whole(cx) {
            Poll::Ready(Ok(whole)) => whole,
            Poll::Ready(Err(refusal)) => return Poll::Ready(ResponseState::refused(&refusal)),
            Poll::Pending => {
                let timeout = self.endpoint.config.body_timeout;
                let deadline = self
                    .deadline
                    .get_or_insert_with(|| Box::pin(sleep(timeout)));
                return deadline
                    .as_mut()
                    .poll(cx)
                    .map(|()| ResponseState::refused(&Refusal::BodySlow(timeout)));
            }
        };
        // Taken once: the state that is returned replaces this one.
        let Some(parts) = self.parts.take() else {
            return Poll::Pending;
        };
        Poll::Ready(post::received(
            &self.endpoint,
            parts,
            whole,
            self.accepts,
            cx,
        ))
    }

    /// Makes room in `more` for `next` bytes, after the `so_far` ones that came: for the whole body, because a buffer that grows is
    /// copied, but only once what `Content-Length` promises is not much more than what came.
    fn make_room(&mut self, so_far: usize, next: usize) {
        let most = self.endpoint.config.max_body;
        let promised = http_body::Body::size_hint(&self.body).lower();
        let promised = usize::try_from(promised).map_or(most, |promised| promised.min(most));
        let whole = so_far + next + promised;
        if whole / CREDIT <= so_far && self.more.capacity() < whole {
            let mut buffer = match WORTH_KEEPING <= whole {
                true => self.endpoint.spare.take(),
                false => BytesMut::new(),
            };
            buffer.reserve(whole);
            buffer.extend_from_slice(&self.more);
            self.more = buffer;
        }
        self.more.reserve(next);
        // Empty after the first time.
        self.more
            .extend_from_slice(&std::mem::take(&mut self.first));
    }

    fn poll_whole(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, Refusal>> {
        let limit = self.endpoint.config.max_body;
        loop {
            let data = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => data,
                    Err(_trailers) => continue,
                },
                Some(Err(error)) => {
                    tracing::debug!(%error, "a body ended early");
                    return Poll::Ready(Err(Refusal::BodyBroken));
                }
                None if self.more.is_empty() => {
                    return Poll::Ready(Ok(std::mem::take(&mut self.first)));
                }
                None => return Poll::Ready(Ok(std::mem::take(&mut self.more).freeze())),
            };
            let so_far = self.first.len().max(self.more.len());
            if limit < so_far + data.len() {
                return Poll::Ready(Err(Refusal::BodyTooLarge(limit)));
            }
            if so_far == 0 {
                self.first = data;
                continue;
            }
            self.make_room(so_far, data.len());
            self.more.extend_from_slice(&data);
        }
    }
}

impl Endpoint {
    pub(super) fn start(self: &Arc<Self>, parts: Parts, body: RequestBody) -> Progress {
        let headers = SenderHeaders::of(&parts.headers);
        if let Err(refusal) = self.policy().admit(&headers, &parts.uri, parts.version) {
            return Progress::Answering(ResponseState::refused(&refusal));
        }
        Progress::Answering(match parts.method {
            Method::POST => match self.admit_post(&headers, &parts, &body) {
                Ok(accepts) => {
                    return Progress::Receiving(Box::new(Receiving {
                        endpoint: self.clone(),
                        parts: Some(Arc::new(parts)),
                        body,
                        first: Bytes::new(),
                        more: BytesMut::new(),
                        deadline: None,
                        accepts,
                    }));
                }
                Err(refusal) => ResponseState::refused(&refusal),
            },
            Method::GET => listen::get(self, parts),
            Method::DELETE => listen::delete(self, parts),
            _ => ResponseState::refused(&Refusal::Method),
        })
    }

    /// What is known of a POST before its body.
    fn admit_post(
        &self,
        headers: &SenderHeaders<'_>,
        parts: &Parts,
        body: &RequestBody,
    ) -> Result<Accepts, Refusal> {
        if !media::is_json(headers.content_type) {
            return Err(Refusal::ContentType);
        }
        if !media::is_plain(headers.content_encoding) {
            return Err(Refusal::ContentEncoding);
        }
        let accepts = match headers.accept {
            Found::Twice => media::accepts(parts.headers.get_all(header::ACCEPT)),
            Found::Once(value) => media::accepts([value]),
            Found::Absent => media::accepts([]),
        };
        if !accepts.json && !accepts.events {
            return Err(Refusal::Accept("`application/json` or `text/event-stream`"));
        }
        // Said by `Content-Length`, where there is one.
        if (self.config.max_body as u64) < body.size_hint().lower() {
            return Err(Refusal::BodyTooLarge(self.config.max_body));
        }
        Ok(accepts)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, task::Waker};

    use http_body::{Frame, SizeHint};

    use super::*;
    use crate::Server;

    /// A body of which these parts are there, and which promises a length.
    struct Parts {
        parts: VecDeque<&'static [u8]>,
        promised: u64,
    }

    impl http_body::Body for Parts {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.parts.pop_front() {
                Some(part) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(part))))),
                None => Poll::Pending,
            }
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.promised)
        }
    }

    // Y-6: what is reserved follows from what came, not from what `Content-Length` promises.
    #[test]
    fn a_few_bytes_reserve_little() {
        let service = Server::new("test", "1.0.0").build().expect("no tools");
        let endpoint = service.into_http_service().expect("the defaults").0;
        let limit = endpoint.config.max_body;
        let parts: [&'static [u8]; 3] = [b"{\"jsonrpc\":", b"\"2.0\",", b"\"id\":"];
        let mut receiving = Receiving {
            endpoint,
            parts: None,
            body: RequestBody::Routed(axum::body::Body::new(Parts {
                parts: parts.into(),
                promised: limit as u64,
            })),
            first: Bytes::new(),
            more: BytesMut::new(),
            deadline: None,
            accepts: Accepts {
                json: true,
                events: true,
            },
        };
        let mut cx = Context::from_waker(Waker::noop());
        assert!(receiving.poll_whole(&mut cx).is_pending());
        assert_eq!(receiving.more.len(), 22);
        assert!(
            receiving.more.capacity() <= 256,
            "{}",
            receiving.more.capacity()
        );
    }

    // What is promised is reserved at once when enough of it came, and so a long body is not copied again and again.
    #[tokio::test]
    async fn a_long_body_has_room_soon() {
        let service = Server::new("test", "1.0.0").build().expect("no tools");
        let endpoint = service.into_http_service().expect("the defaults").0;
        let whole = 2 << 20;
        assert!(whole <= endpoint.config.max_body);
        let mut expected = None;
        for _turn in 0..2 {
            let piece: &'static [u8] = &[b'x'; 64 << 10];
            let mut receiving = Receiving {
                endpoint: endpoint.clone(),
                parts: None,
                body: RequestBody::Routed(axum::body::Body::new(Parts {
                    parts: [piece; 4].into(),
                    promised: (whole - 4 * piece.len()) as u64,
                })),
                first: Bytes::new(),
                more: BytesMut::new(),
                deadline: None,
                accepts: Accepts {
                    json: true,
                    events: true,
                },
            };
            let mut cx = Context::from_waker(Waker::noop());
            assert!(receiving.poll_whole(&mut cx).is_pending());
            assert_eq!(receiving.more.len(), 4 * piece.len());
            assert!(receiving.more.iter().all(|byte| *byte == b'x'));
            let room = receiving.more.capacity();
            assert!((whole..=whole + whole / 4).contains(&room), "{room}");
            let place = receiving.more.as_ptr();
            assert_eq!(*expected.get_or_insert(place), place, "the same buffer");
            endpoint.spare.keep(receiving.more.freeze());
        }
    }
}
