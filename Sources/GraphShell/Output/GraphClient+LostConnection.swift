import GraphClient

@MainActor
extension GraphClient {
  /// Reports each lost connection on standard error, at the first attempt to connect again, and each move between the
  /// daemon and this computer's copy.
  func reportLostConnections(to output: Output) {
    var isOnCopy = unsentAfter != nil
    stateDidChange = { [weak self] state in
      switch state {
      case .reconnecting(1):
        // A copy that another program has changed is opened again.
        if !isOnCopy { output.message("the connection was lost; trying again") }
      case .connected:
        if let self, (unsentAfter != nil) != isOnCopy {
          isOnCopy.toggle()
          output.message(isOnCopy ? "working on this computer's copy" : "the daemon answers again")
        }
      case .connecting, .reconnecting, .closed: break
      }
    }
  }
}
