import TerminalApplication

/// What the connection tells between turns.
enum ConnectionNews {
  /// How it stands.
  /// - Parameter message: what the status line said then.
  case state(ConnectionState, message: TimerID?)
  /// The server owes an answer for a while, or owes none any more.
  case silence(Bool)
  /// What another session shows; nil when it has left.
  case presence([UInt8]?, session: UInt64, author: String)
}

/// The connection is heard at any time, and answered in a turn: all that has come before it is one event, in its order, for
/// who is here belongs to one connection.
extension BoardScreen {
  func hear(_ news: ConnectionNews) {
    heard.append(news)
    application.post(ApplicationEvent(.connection, at: now))
  }

  func takeNews() {
    let all = heard
    heard = []
    for news in all {
      switch news {
      case .state(let state, let message):
        // "needs the server" is true no more; what was said since is.
        if state.isConnected, state != linkState, messageTimer == message { self.message = nil }
        linkState = state
      case .silence(let isSilent): isServerSilent = isSilent
      case .presence(let state, let session, let author): take(state, of: session, author)
      }
    }
  }
}
