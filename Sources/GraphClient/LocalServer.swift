// Tests: EmbeddedGraphTests.swift

/// A server of this process, to which a client connects instead of an address.
package struct LocalServer: Sendable {
  /// Makes a connection.
  ///
  /// It returns the client's end: the descriptor of a connected stream socket, which the caller closes.
  package var connect: @Sendable () async throws -> CInt
  /// Called when the client is closed for good. It returns when the server no longer counts the client; a further call
  /// waits for the first one.
  package var clientDidClose: @Sendable () async -> Void
  /// The same server for a further client, which it counts.
  package var forAnotherClient: @Sendable () async throws -> LocalServer

  /// A server of this process.
  package init(
    connect: @escaping @Sendable () async throws -> CInt, clientDidClose: @escaping @Sendable () async -> Void,
    forAnotherClient: @escaping @Sendable () async throws -> LocalServer
  ) {
    (self.connect, self.clientDidClose, self.forAnotherClient) = (connect, clientDidClose, forAnotherClient)
  }
}
