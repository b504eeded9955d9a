/// Any number of pages, shown by exactly two controllers: *current*, and *next*, which is configured ahead of the
/// scroll.
///
/// While the scroll is between two pages, both are visible, one in each controller. When a page becomes visible that
/// neither controller shows, the invisible controller takes it. Only at the end of the scroll do the two swap roles,
/// so that current is the nearest page; reversing the scroll direction therefore configures nothing.
///
/// Offsets are in pages: 2.5 shows the right half of page 2 and the left half of page 3. The scroll may pass both
/// ends, so a controller can show a page that does not exist.
public struct Pager<Source: PageDataSource, Controller: PageController<Source.Content>> {
  /// The source of the content.
  public let source: Source
  /// The controller of the current page.
  public private(set) var current: Controller
  /// The other controller: the page of the neighbor that is visible or was visible last.
  public private(set) var next: Controller
  /// The scroll position, in pages.
  public private(set) var offset: Double
  /// Whether a scroll is in progress.
  public private(set) var isScrolling = false
  private var lastRequest: UInt64 = 0

  /// Creates a pager on one page; the neighbor after it is configured but loads nothing until it appears.
  /// - Parameters:
  ///   - page: the initial page.
  ///   - now: the time in milliseconds, as in all methods here: for the busy overlay.
  ///   - makeController: called twice.
  public init(source: Source, page: Int = 0, at now: Int64, makeController: () -> Controller) {
    self.source = source
    current = makeController()
    next = makeController()
    offset = 0
    configureBoth(page)
    refreshVisible(at: now)
  }

  /// Returns the dots for the current page.
  /// - Parameter room: the maximum number of dots.
  public func dots(room: Int) -> PageDots { PageDots(count: source.pageCount, current: current.page, room: room) }

  /// The controllers whose page is at least partly visible, from left to right.
  public var visible: [Controller] {
    [current, next].filter { isVisible($0) }.sorted { $0.page < $1.page }
  }

  private func isVisible(_ controller: Controller) -> Bool { abs(Double(controller.page) - offset) < 1 }

  // MARK: - Scrolling

  /// Updates the scroll position, moved by the user or by an animation.
  public mutating func scroll(to offset: Double, at now: Int64) {
    guard offset.isFinite, abs(offset) < 1e9 else { return }
    let seen = visible.map(ObjectIdentifier.init)
    self.offset = offset
    isScrolling = true
    let lower = Int(offset.rounded(.down))
    // Exactly on a page, no neighbor is visible.
    let upper = Int(offset.rounded(.up))
    if !holds(lower) { configure(lower, besides: upper) }
    if !holds(upper) { configure(upper, besides: lower) }
    for controller in visible where controller.isStale {
      // A page that became stale while visible is refreshed at the end of the scroll.
      let appears = !seen.contains(ObjectIdentifier(controller)) || !controller.hasRequested
      if appears { refresh(controller, at: now) }
    }
  }

  private func holds(_ page: Int) -> Bool { current.page == page || next.page == page }

  /// Configures a page in the controller that does not show the other visible page; prefers next if both are free.
  private mutating func configure(_ page: Int, besides other: Int) {
    let taker = next.page == other && other != page ? current : next
    taker.configure(page, count: source.pageCount)
  }

  /// Ends the scroll: the nearest existing page becomes current and is refreshed once.
  public mutating func endScroll(at now: Int64) {
    guard isScrolling else { return }
    isScrolling = false
    let nearest = inBounds(Int(offset.rounded()))
    if next.page == nearest {
      (current, next) = (next, current)
    } else if current.page != nearest {
      configureBoth(nearest)
    }
    offset = Double(nearest)
    if current.isStale || !current.isWaiting { refresh(current, at: now) }
  }

  /// Shows a page without scrolling; if it does not exist, the nearest existing one.
  public mutating func jump(to page: Int, at now: Int64) {
    let page = inBounds(page)
    isScrolling = false
    guard page != current.page || offset != Double(page) else { return }
    configureBoth(page)
    refreshVisible(at: now)
  }

  private func inBounds(_ page: Int) -> Int { max(0, min(page, source.pageCount - 1)) }

  private mutating func configureBoth(_ page: Int) {
    let count = source.pageCount
    current.configure(page, count: count)
    next.configure(page + 1 < count || page == 0 ? page + 1 : page - 1, count: count)
    offset = Double(page)
  }

  // MARK: - Content

  /// Handles a change of content. A visible page is refreshed now, or at the end of the scroll in progress; an
  /// invisible one when it appears.
  /// - Parameter pages: the changed pages; nil if any may have changed or their number did.
  public mutating func sourceDidChange(pages: Set<Int>? = nil, at now: Int64) {
    if pages == nil {
      let count = source.pageCount
      // With another number of pages, a controller's page may begin or cease to exist.
      if inBounds(current.page) != current.page {
        return jump(to: current.page, at: now)
      }
      for controller in [current, next] where controller.changesBounds(count: count) {
        controller.configure(controller.page, count: count)
      }
    }
    for controller in [current, next] where pages?.contains(controller.page) != false { controller.markStale() }
    if !isScrolling { refreshVisible(at: now) }
  }

  /// Delivers the answer to a request that the source could not answer at once. It is dropped if its controller now
  /// shows another page or has sent a newer request.
  /// - Returns: whether the answer was used.
  @discardableResult
  public func deliver(_ content: Source.Content, for request: PageRequest) -> Bool {
    current.receive(.success(content), to: request) || next.receive(.success(content), to: request)
  }

  /// Fails a request; the text gives the reason.
  /// - Returns: whether a controller was waiting for it.
  @discardableResult
  public func fail(_ request: PageRequest, _ sentence: String) -> Bool {
    let failure = PageFailure(sentence: sentence)
    return current.receive(.failure(failure), to: request) || next.receive(.failure(failure), to: request)
  }

  private mutating func refreshVisible(at now: Int64) {
    for controller in visible where controller.isStale { refresh(controller, at: now) }
  }

  private mutating func refresh(_ controller: Controller, at now: Int64) {
    lastRequest += 1
    controller.refresh(PageRequest(page: controller.page, number: lastRequest), source, at: now)
  }
}
