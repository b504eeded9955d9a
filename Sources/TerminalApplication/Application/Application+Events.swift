import TerminalCells

/// The next event, when there is one.
public enum NextEvent: Hashable, Sendable {
  /// Here it is.
  case event(ApplicationEvent)
  /// There is none before the deadline.
  case timedOut
  /// There is none yet: ask again at this time, or when something has been posted; nil when only that can bring one.
  case wait(until: Int64?)
}

extension Application {
  // MARK: - The queue

  /// Something happened. It is answered in the next turn.
  /// - Returns: false when the queue is full; read no more bytes until the next turn has run.
  @discardableResult
  public func post(_ event: ApplicationEvent) -> Bool {
    defer { askForTurn() }
    return queue.post(event)
  }

  /// Whether the queue takes no further key.
  public var isQueueFull: Bool { queue.isFull }

  /// The first event that waits, timers that are due among them.
  /// - Parameters:
  ///   - mask: which kinds count; the others go on waiting in their order. Without `.timer` nobody is woken for one.
  ///   - deadline: when to give up, in milliseconds; nil for never.
  ///   - mode: whose timers fire; nil for the application's own.
  ///   - dequeue: false to leave it in the queue.
  ///   - now: in milliseconds.
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

  /// Letters and line breaks that wait before everything else, taken out; nothing while there are fewer than `least`.
  public func takeTyped(atLeast least: Int) -> String { queue.takeTyped(atLeast: least) }

  /// Throws away what waits of a kind, such as keys that were typed ahead of a question.
  public func discardEvents(_ mask: EventMask) { queue.discard(mask) }

  // MARK: - Timers

  /// Calls `body` in a turn at or behind a time.
  /// - Parameters:
  ///   - time: in milliseconds, of the clock that `runTurn` is told.
  ///   - interval: after how many milliseconds again; nil for once.
  ///   - modes: in which it fires; all of them unless told otherwise.
  public func schedule(
    at time: Int64, every interval: Int64? = nil, modes: Set<EventMode> = Set(EventMode.allCases),
    _ body: @escaping () -> Void
  ) -> TimerID {
    let id = timers.schedule(at: time, every: interval, modes: modes)
    timerHandlers[id] = body
    // Outside a turn nobody knows yet when the next one is due.
    askForTurn()
    return id
  }

  /// The timer fires no more, be it due already.
  public func cancel(_ timer: TimerID) {
    timers.cancel(timer)
    timerHandlers[timer] = nil
  }

  func fire(_ timer: TimerID) -> Bool {
    guard let body = timerHandlers[timer] else { return false }
    if !timers.contains(timer) {
      timerHandlers[timer] = nil
    } else if !timers.fires(timer, in: mode) {
      // It was due, and what came before it in this turn ended its mode: it waits for the next time.
      return true
    }
    body()
    return true
  }

  // MARK: - Sending

  func take(_ signal: ApplicationSignal) {
    switch signal {
    case .interrupt: terminate()
    case .terminate, .hangup: terminate(asks: false)
    // Whatever was on the screen is not any more.
    case .resume: isScreenStale = true
    }
    delegate?.application(self, didReceive: signal)
  }

  var keyTarget: Responder { modalWindow ?? keyWindow ?? frontWindow ?? self }

  func sendAlong(_ first: Responder, _ kind: ApplicationEvent.Kind) -> Bool {
    first.chain.contains { $0.answers(kind) }
  }

  /// A key that no editor would take for text is the menu's first, and any other one the menu's last.
  func sendKey(_ key: KeyEvent) -> Bool {
    let item = menuBar.command(for: key)
    let isText = KeyEquivalent(key.key, key.modifiers).isText
    if let item, !isText, send(item.command) { return true }
    if sendAlong(keyTarget, .key(key)) { return true }
    guard let item, isText else { return false }
    return send(item.command)
  }

  /// A press goes to the highest window under it, which keys go to from now on; until the button is up, so does all else.
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

  /// Who would perform a command: the first that answers it in the chain of the key window.
  public func target(for command: Command) -> Responder? { keyTarget.chain.first { $0.answers(command) } }

  /// How a command stands now, for its menu item; disabled when nobody answers it.
  public func state(ofCommand command: Command) -> CommandState {
    target(for: command)?.state(of: command) ?? .disabled
  }

  /// Performs a command, as its menu item does when it is chosen.
  /// - Returns: false when nobody answers it, or it makes no sense now.
  @discardableResult
  public func send(_ command: Command) -> Bool {
    guard let target = target(for: command), target.state(of: command).isEnabled else { return false }
    target.perform(command)
    return true
  }
}
