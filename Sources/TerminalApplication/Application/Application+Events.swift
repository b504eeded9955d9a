import TerminalCells

/// The result of asking for the next event.
public enum NextEvent: Hashable, Sendable {
  /// The next event.
  case event(ApplicationEvent)
  /// No event arrived before the deadline.
  case timedOut
  /// No event is available: ask again at this time or after the next `post`; nil if only a `post` can bring one.
  case wait(until: Int64?)
}

extension Application {
  // MARK: - The queue

  /// Adds an event to the queue; the next turn handles it.
  /// - Returns: false if the queue is full; stop reading bytes until the next turn has run.
  @discardableResult
  public func post(_ event: ApplicationEvent) -> Bool {
    defer { askForTurn() }
    return queue.post(event)
  }

  /// Whether the queue accepts no further key.
  public var isQueueFull: Bool { queue.isFull }

  /// Returns the first queued event; due timers are queued first.
  /// - Parameters:
  ///   - mask: the kinds to return; the others stay queued in order. Without `.timer`, timers do not affect the
  ///     waiting time.
  ///   - deadline: the time to wait until, in milliseconds; nil to wait forever.
  ///   - mode: the mode whose timers fire; nil for the application's own.
  ///   - dequeue: false to leave the event in the queue.
  ///   - now: the time in milliseconds.
  public func nextEvent(
    _ mask: EventMask = .any, until deadline: Int64? = nil, mode: EventMode? = nil, dequeue: Bool = true, at now: Int64
  ) -> NextEvent {
    let mode = mode ?? self.mode
    for id in timers.takeDue(at: now, mode) { queue.post(ApplicationEvent(.timer(id), at: now)) }
    if let event = queue.next(mask, dequeue: dequeue) { return .event(event) }
    if let deadline, deadline <= now { return .timedOut }
    let due = mask.contains(.timer) ? timers.nextDue(mode) : nil
    return .wait(until: [deadline, due].compactMap { $0 }.min())
  }

  /// Removes and returns the characters and line breaks at the front of the queue; empty if there are fewer than
  /// `least`.
  public func takeTyped(atLeast least: Int) -> String { queue.takeTyped(atLeast: least) }

  /// Removes all queued events of a kind, such as keys typed before a question appeared.
  public func discardEvents(_ mask: EventMask) { queue.discard(mask) }

  // MARK: - Timers

  /// Calls `body` in the first turn at or after a time.
  /// - Parameters:
  ///   - time: the time in milliseconds, on the clock of `runTurn`.
  ///   - interval: the milliseconds between repetitions; nil to fire once.
  ///   - modes: the modes in which it fires; all of them by default.
  public func schedule(
    at time: Int64, every interval: Int64? = nil, modes: Set<EventMode> = Set(EventMode.allCases),
    _ body: @escaping () -> Void
  ) -> TimerID {
    let id = timers.schedule(at: time, every: interval, modes: modes)
    timerHandlers[id] = body
    // Outside a turn, the driver does not know the new due time yet.
    askForTurn()
    return id
  }

  /// Cancels a timer, even if it is due.
  public func cancel(_ timer: TimerID) {
    timers.cancel(timer)
    timerHandlers[timer] = nil
  }

  func fire(_ timer: TimerID) -> Bool {
    guard let body = timerHandlers[timer] else { return false }
    if !timers.contains(timer) {
      timerHandlers[timer] = nil
    } else if !timers.fires(timer, in: mode) {
      // The timer was due, but an earlier event in this turn ended its mode; it waits for its next time.
      return true
    }
    body()
    return true
  }

  // MARK: - Sending

  func receive(_ signal: ApplicationSignal) {
    switch signal {
    case .interrupt: terminate()
    case .terminate, .hangup: terminate(asks: false)
    // The terminal may have been overwritten while the program was stopped.
    case .resume: isScreenStale = true
    }
    delegate?.application(self, didReceive: signal)
  }

  var keyTarget: Responder { modalWindow ?? keyWindow ?? frontWindow ?? self }

  func sendAlong(_ first: Responder, _ kind: ApplicationEvent.Kind) -> Bool {
    first.chain.contains { $0.answers(kind) }
  }

  /// Sends a key to the menu bar first, or last if a text editor would insert it.
  func sendKey(_ key: KeyEvent) -> Bool {
    let item = menuBar.command(for: key)
    let isText = KeyEquivalent(key.key, key.modifiers).isText
    if let item, !isText, send(item.command) { return true }
    if sendAlong(keyTarget, .key(key)) { return true }
    guard let item, isText else { return false }
    return send(item.command)
  }

  /// Sends a mouse event. A press goes to the top window under it and makes it key; all events until the release
  /// follow it.
  func sendMouse(_ mouse: MouseEvent) -> Bool {
    if let owner = captured {
      if case .release = mouse.kind { stopTracking() }
      return sendAlong(owner, .mouse(mouse))
    }
    guard let window = windows.last(where: { $0.frame.contains(mouse.position) }) else {
      return modals.isEmpty ? sendAlong(self, .mouse(mouse)) : false
    }
    if let modal = modalWindow, modal !== window { return false }
    if case .press = mouse.kind {
      makeKey(window)
      captured = window
    }
    return sendAlong(window, .mouse(mouse))
  }

  // MARK: - Commands

  /// Returns the target of a command: the first responder in the key window's chain that handles it.
  public func target(for command: Command) -> Responder? { keyTarget.chain.first { $0.answers(command) } }

  /// Returns the state of a command for its menu item; disabled without a target.
  public func state(ofCommand command: Command) -> CommandState {
    target(for: command)?.state(of: command) ?? .disabled
  }

  /// Performs a command, as if its menu item were chosen.
  /// - Returns: false without a target or if the command is disabled.
  @discardableResult
  public func send(_ command: Command) -> Bool {
    guard let target = target(for: command), target.state(of: command).isEnabled else { return false }
    target.perform(command)
    return true
  }
}
