import TerminalCells

/// Which windows are on the screen, which of them lies in front, and where keys go.
extension Application {
  /// The highest window.
  public var frontWindow: Window? { windows.last }

  /// The window that wants an answer before all others; nil when none does.
  public var modalWindow: Window? { modals.last }

  /// Puts a window on the screen, above all others, and lets keys go to it if it wants them. While a modal window waits, a
  /// window comes to lie below that, and has the keys afterwards.
  public func orderFront(_ window: Window) {
    windows.removeAll { $0 === window }
    window.application = self
    let place =
      modals.contains { $0 === window } ? nil : windows.firstIndex { other in modals.contains { $0 === other } }
    windows.insert(window, at: place ?? windows.count)
    isScreenStale = true
    makeKey(window)
  }

  /// Puts a window below all others; keys go on to where they went.
  public func orderBack(_ window: Window) {
    windows.removeAll { $0 === window }
    window.application = self
    windows.insert(window, at: 0)
    isScreenStale = true
  }

  /// Lays windows in this order, from the lowest to the highest, as when their pile is shared with others; keys go on to
  /// where they went. Windows on the screen that it does not name, and modal ones, lie above those in their order; ones that
  /// it names and that are not on the screen are passed over. Each is named once.
  public func arrange(_ order: [Window]) {
    // Mostly they lie so already.
    if modals.isEmpty, windows.starts(with: order, by: ===) { return }
    let there = Set(windows.map { ObjectIdentifier($0) })
    let modal = Set(modals.map { ObjectIdentifier($0) })
    let low = order.filter { there.contains(ObjectIdentifier($0)) && !modal.contains(ObjectIdentifier($0)) }
    let named = Set(low.map { ObjectIdentifier($0) })
    let sorted = low + windows.filter { !named.contains(ObjectIdentifier($0)) }
    guard !sorted.elementsEqual(windows, by: ===) else { return }
    windows = sorted
    isScreenStale = true
  }

  /// Takes a window off the screen. Keys go to where they went before it was modal, else to the highest one that wants them.
  public func orderOut(_ window: Window) {
    guard windows.contains(where: { $0 === window }) else { return }
    windows.removeAll { $0 === window }
    modals.removeAll { $0 === window }
    if captured === window { stopTracking() }
    isScreenStale = true
    if keyWindow === window {
      keyWindow = nil
      window.didResignKey()
    }
    window.application = nil
    let before = window.keyWindowBefore
    window.keyWindowBefore = nil
    for modal in modals where modal.keyWindowBefore === window { modal.keyWindowBefore = before }
    if keyWindow == nil, let before { makeKey(before) }
    if keyWindow == nil, let next = windows.last(where: \.canBecomeKey) { makeKey(next) }
  }

  /// Where keys go as soon as no modal window waits any more; nil for nobody in particular.
  public var settledKeyWindow: Window? { modals.isEmpty ? keyWindow : modals[0].keyWindowBefore }

  /// Lets keys go to a window that is on the screen and wants them, wherever it lies; while a modal one waits, as soon as that
  /// has its answer.
  public func makeKey(_ window: Window) {
    guard window.canBecomeKey, windows.contains(where: { $0 === window }) else { return }
    if let modal = modalWindow, modal !== window {
      if !modals.contains(where: { $0 === window }) { modals[0].keyWindowBefore = window }
      return
    }
    guard keyWindow !== window else { return }
    let old = keyWindow
    keyWindow = window
    isScreenStale = true
    old?.didResignKey()
    window.didBecomeKey()
  }

  // MARK: - Modes

  /// What the application is in the middle of.
  public var mode: EventMode { isTracking ? .tracking : modals.isEmpty ? .default : .modal }

  /// A window wants an answer first: keys and mouse go to no other one until `endModal`.
  public func beginModal(_ window: Window) {
    modals.removeAll { $0 === window }
    if keyWindow !== window { window.keyWindowBefore = keyWindow }
    modals.append(window)
    captured = nil
    isTracking = false
    orderFront(window)
  }

  /// The window has its answer and leaves the screen.
  public func endModal(_ window: Window) { orderOut(window) }

  /// From now on the mouse belongs to one responder, until its button comes up or `stopTracking`.
  public func beginTracking(_ responder: Responder) {
    captured = responder
    isTracking = true
  }

  /// The mouse belongs to whoever lies under it again.
  public func stopTracking() {
    captured = nil
    isTracking = false
  }

  // MARK: - Drawing

  /// Tells every window to update itself; once in each turn.
  public func updateWindows() {
    delegate?.applicationWillUpdate(self)
    for window in windows { window.update() }
  }

  /// Draws all windows into a blank grid, from the lowest to the highest; nil when nothing has changed since the last time.
  public func display() -> Grid? {
    guard isScreenStale || windows.contains(where: \.needsDisplay) else { return nil }
    displayCount += 1
    var grid = Grid(screenSize)
    drawBackground(into: &grid)
    for window in windows {
      window.draw(into: &grid, frame: window.frame, clip: grid.bounds)
      window.didDisplay()
    }
    isScreenStale = false
    return grid
  }
}
