// Tests: EmbeddedGraphTests.swift

/// A server of this process, as one client sees it, to which the client connects instead of an address.
package struct LocalServer: Sendable {
  /// Makes a connection.
  ///
  /// It returns the client's end: the descriptor of a connected stream socket, which the caller closes.
  package var connect: @Sendable () async throws -> CInt
  /// Called when the client is closed for good. It returns when the server no longer counts the client; a further call
  /// waits for the first one.
  package var clientDidClose: @Sendable () async -> Void
  /// The same server for another client, which is counted apart.
  package var forNewClient: @Sendable () -> LocalServer

  /// A server of this process.
  package init(
    connect: @escaping @Sendable () async throws -> CInt, clientDidClose: @escaping @Sendable () async -> Void,
    forNewClient: @escaping @Sendable () -> LocalServer
  ) {
    (self.connect, self.clientDidClose, self.forNewClient) = (connect, clientDidClose, forNewClient)
  }
}

extension GraphClient.Options {
  /// These options for one client: another client with the same options has a server of its own to close.
  func forNewClient() -> Self {
    var options = self
    options.localServer = localServer?.forNewClient()
    return options
  }
}
