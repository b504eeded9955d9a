import GraphModel
import GraphWire

/// Time: it comes in with ticks, and `deadline` tells when the next one is wanted. Whoever has nothing to do sleeps from
/// heartbeat to heartbeat: nothing here counts on ticks that come more often.
extension Replica {
  /// What the server owes, and since when.
  enum Owed {
    /// Nothing, or nothing was asked since the server was last heard.
    case nothing
    /// Something that was asked since the last tick: the next one tells when.
    case sinceNextTick
    case since(Int64)
  }

  /// When the next tick is wanted, in the clock of the ticks: to ping, to tell of silence, or to give the connection up. It
  /// is not later than the last tick when one is wanted at once, for something was asked. Nil while there is no connection.
  /// Each event may change it, and a tick that comes earlier does no harm.
  public var deadline: Int64? {
    guard let due else { return nil }
    if case .sinceNextTick = owed { return now }
    return due
  }

  /// When something has to be done, as far as it is known.
  private var due: Int64? {
    switch phase {
    case .disconnected: return nil
    case .awaitingWelcome: return lastHeard + patience
    case .live:
      let due = min(lastAsked + heartbeat, lastHeard + patience)
      guard case .since(let time) = owed, !isSilent else { return due }
      return min(due, time + Self.silenceMilliseconds)
    }
  }

  /// How long the server may say nothing at all.
  private var patience: Int64 { phase == .awaitingWelcome ? Self.welcomeMilliseconds : 3 * heartbeat }

  mutating func tick(_ milliseconds: Int64, _ actions: inout [ReplicaAction]) {
    if now == 0 {
      // The first tick only tells what time it is.
      (lastHeard, lastAsked) = (milliseconds, milliseconds)
    } else if let due, milliseconds - due > heartbeat {
      // Nobody who is awake comes so late. While this side slept it could not hear: that time says nothing of the server.
      lastHeard += milliseconds - now
      if case .since(let time) = owed { owed = .since(time + milliseconds - now) }
    }
    now = milliseconds
    switch phase {
    case .disconnected: break
    case .awaitingWelcome, .live:
      if now - lastHeard >= patience {
        actions.append(.disconnect(Refusal(.unavailable, "the server has not been heard for \(patience) ms")))
      } else if case .live = phase {
        if now - lastAsked >= heartbeat { send(.ping, for: .ping, &actions) }
        if !isSilent, case .since(let time) = owed, now - time >= Self.silenceMilliseconds {
          isSilent = true
          actions.append(.silence(true))
        }
      }
    }
    if case .sinceNextTick = owed { (owed, lastAsked) = (.since(now), now) }
  }

  /// The server is heard, or is not listened to any more.
  mutating func endSilence(_ actions: inout [ReplicaAction]) {
    owed = .nothing
    guard isSilent else { return }
    isSilent = false
    actions.append(.silence(false))
  }
}
