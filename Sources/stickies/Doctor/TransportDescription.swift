import GraphClient
import GraphWire

/// The transport of a connection in words, with the way in which the server was verified.
enum TransportDescription {
  @MainActor
  static func text(_ client: GraphClient) -> String {
    switch client.address {
    case .unix: return "a socket of this machine"
    case .tcp: return client.address.isLoopback ? "TCP on this machine" : "TCP without encryption"
    case .tls:
      guard let verification = client.verification else { preconditionFailure("an encrypted server was verified") }
      return "TLS, the server \(verification)"
    }
  }
}
