// How a client that always offers its newest revision is made to offer an
// older one: its `initialize` is rewritten on the way out.

function offer(message, revision) {
  return message.method === "initialize" ? { ...message, params: { ...message.params, protocolVersion: revision } } : message;
}

/// Rewrites what a transport of the TypeScript SDK 1.x, or one of its shape,
/// sends. Returns a reader of what the server settled on.
export function offering(transport, revision) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(offer(message, revision), options);
  let settled;
  transport.setProtocolVersion = ((original) => (version) => {
    settled = version;
    original?.call(transport, version);
  })(transport.setProtocolVersion);
  return () => settled;
}

/// The same for clients that build their transport themselves: a `fetch` and a
/// reader of the revision that the newest request named.
export function offeringFetch(revision) {
  let named;
  const rewriting = async (url, init) => {
    named = new Headers(init?.headers).get("mcp-protocol-version") ?? named;
    const initialize = typeof init?.body === "string" && init.body.includes('"initialize"');
    return fetch(url, initialize ? { ...init, body: JSON.stringify(offer(JSON.parse(init.body), revision)) } : init);
  };
  return [rewriting, () => named];
}
