import TerminalCells

/// Windows on the screen: their order, and the one that receives keys.
extension Application {
  /// The top window.
  public var frontWindow: Window? { windows.last }

  /// The newest modal window; nil without one.
  public var modalWindow: Window? { modals.last }

  /// Puts a window above all others and makes it key if it can become key. While a modal window is open, the window
  /// goes below it and becomes key afterwards.
  public func orderFront(_ window: Window) {
    windows.removeAll { $0 === window }
    window.application = self
    let place =
      modals.contains { $0 === window } ? nil : windows.firstIndex { other in modals.contains { $0 === other } }
    windows.insert(window, at: place ?? windows.count)
    isScreenStale = true
    makeKey(window)
  }

  /// Puts a window below all others; the key window stays.
  public func orderBack(_ window: Window) {
    windows.removeAll { $0 === window }
    window.application = self
    windows.insert(window, at: 0)
    isScreenStale = true
  }

  /// Orders windows from bottom to top, for example in a stacking order shared with other clients; the key window
  /// stays. Windows on the screen that are not in `order`, and modal ones, lie above them in their current order.
  /// Windows in `order` that are not on the screen are ignored; each may occur once.
  public func arrange(_ order: [Window]) {
    // The usual case: the order is unchanged.
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

  /// Removes a window from the screen. After a modal window, the window that was key before becomes key again;
  /// otherwise the top window that can become key.
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

  /// The window that receives keys once no modal window is open; nil if none is selected.
  public var settledKeyWindow: Window? { modals.isEmpty ? keyWindow : modals[0].keyWindowBefore }

  /// Makes a window key if it is on the screen and can become key, regardless of its position. While a modal window is
  /// open, the window becomes key when that one closes.
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

  /// The mode of the application.
  public var mode: EventMode { isTracking ? .tracking : modals.isEmpty ? .default : .modal }

  /// Begins a modal session: keys and the mouse go only to this window until `endModal`.
  public func beginModal(_ window: Window) {
    modals.removeAll { $0 === window }
    if keyWindow !== window { window.keyWindowBefore = keyWindow }
    modals.append(window)
    captured = nil
    isTracking = false
    orderFront(window)
  }

  /// Ends a modal session and removes the window from the screen.
  public func endModal(_ window: Window) { orderOut(window) }

  /// Captures the mouse for a responder, until the button is released or `stopTracking` is called.
  public func beginTracking(_ responder: Responder) {
    captured = responder
    isTracking = true
  }

  /// Releases the mouse; events go to the window under it again.
  public func stopTracking() {
    captured = nil
    isTracking = false
  }

  // MARK: - Drawing

  /// Lets the delegate and every window update; called once in each turn.
  public func updateWindows() {
    delegate?.applicationWillUpdate(self)
    for window in windows { window.update() }
  }

  /// Draws all windows into a blank grid, from bottom to top; nil if nothing has changed since the last call.
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
