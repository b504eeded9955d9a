import GraphClient
import GraphModel
import GraphWire

/// The way in which the daemon identifies the user of a connection.
enum Identity: String {
  /// By a token, of an account or a share link.
  case token
  /// By the user that the system names at the other end of the socket.
  case system
  /// As the daemon's own user, at the other end of the socket.
  case owner
  /// By the name that the program gives: a daemon without accounts believes it.
  case name

  @MainActor
  init(_ client: GraphClient) {
    guard let welcome = client.welcome else { preconditionFailure("a command has a connection that was welcomed") }
    if welcome.principal.hasPrefix(Principal.accountPrefix) {
      self = .token
    } else if welcome.principal.hasPrefix(Principal.localUserPrefix) {
      self = .system
    } else if case .unix = client.address {
      self = .owner
    } else {
      self = .name
    }
  }

  /// The sentence for a user, without the address.
  var sentence: String {
    switch self {
    case .token: "by the token that you logged in with"
    case .system: "by your user id, as the system names it"
    case .owner: "as the daemon's own user, under the name of STICKIES_AUTHOR or of your account"
    case .name: "by the name of STICKIES_AUTHOR or of your account: the daemon has no accounts"
    }
  }
}
