import TerminalApplication

/// News of the connection that arrive between turns.
enum ConnectionEvent {
  /// A new state of the connection.
  /// - Parameter message: the status line's message at that time.
  case state(ConnectionState, message: TimerID?)
  /// Whether the server has been silent for a while.
  case silence(Bool)
  /// The presence of another session; nil when it has ended.
  case presence([UInt8]?, session: UInt64, author: String)
}

/// Handling of connection news. They can arrive at any time and are queued; a turn handles all of them in order,
/// because presence belongs to one connection.
extension BoardScreen {
  func hear(_ news: ConnectionEvent) {
    heard.append(news)
    application.post(ApplicationEvent(.connection, at: now))
  }

  func takeNews() {
    let all = heard
    heard = []
    for news in all {
      switch news {
      case .state(let state, let message):
        // The message "needs the server" is obsolete; later messages stay.
        if state.isConnected, state != linkState, messageTimer == message { self.message = nil }
        linkState = state
      case .silence(let isSilent): isServerSilent = isSilent
      case .presence(let state, let session, let author): take(state, of: session, author)
      }
    }
  }
}
