import GraphModel
import GraphWire

/// Time, which arrives in ticks; `deadline` is when the next one is due. An idle client sleeps between heartbeats:
/// nothing here depends on more frequent ticks.
extension Replica {
  /// Whether the server owes an answer, and since when.
  enum ReplyTimer {
    /// Nothing, or nothing was requested since the server's last message.
    case nothing
    /// An answer to a request since the last tick; the next tick records the time.
    case sinceNextTick
    case since(Int64)
  }

  /// When the next tick is due, on the clock of the ticks. It serves to ping, to report silence, or to close the
  /// connection.
  ///
  /// It equals the last tick's time if a tick is due at once, because something was requested. Nil while there is no
  /// connection. Each event may change it, and an early tick is harmless.
  public var deadline: Int64? {
    guard let due else { return nil }
    if case .sinceNextTick = owed { return now }
    return due
  }

  /// The next ping or timeout, apart from requests since the last tick.
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

  /// How many milliseconds the server may send nothing before the connection counts as lost.
  private var patience: Int64 { phase == .awaitingWelcome ? Self.welcomeMilliseconds : 3 * heartbeat }

  mutating func tick(_ milliseconds: Int64, _ actions: inout [ReplicaAction]) {
    if now == 0 {
      // The first tick only sets the clock.
      (lastHeard, lastAsked) = (milliseconds, milliseconds)
    } else if let due, milliseconds - due > heartbeat {
      // So late a tick means that this process was suspended and could not receive: that time is not silence of the
      // server.
      lastHeard += milliseconds - now
      if case .since(let time) = owed { owed = .since(time + milliseconds - now) }
    }
    now = milliseconds
    switch phase {
    case .disconnected: break
    case .awaitingWelcome, .live:
      if now - lastHeard >= patience {
        actions.append(.disconnect(Refusal(.unavailable, "the server has sent nothing for \(patience) ms")))
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

  /// Ends a silence: the server sent a message, or the connection ended.
  mutating func endSilence(_ actions: inout [ReplicaAction]) {
    owed = .nothing
    guard isSilent else { return }
    isSilent = false
    actions.append(.silence(false))
  }
}
