import GraphClient

@MainActor
extension GraphClient {
  /// Reports each lost connection on standard error, at the first attempt to connect again.
  func reportLostConnections(to output: Output) {
    stateDidChange = { state in
      if case .reconnecting(1) = state { output.message("the connection was lost; trying again") }
    }
  }
}
