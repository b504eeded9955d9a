/// Any number of pages, shown by exactly two controllers: *current*, and *next*, which leaps ahead of the scroll.
///
/// While the scroll lies between two pages, both show: one controller stands for the one, the other one for the other. When
/// a page comes into view that neither stands for, the controller that is out of view takes it. Only at the end of the
/// scroll do the two change their roles, so that current is the nearest page; to turn round on the way therefore
/// configures nothing.
///
/// Offsets are in pages: 2.5 shows the right half of page 2 and the left half of page 3. The scroll may go past both ends:
/// a controller can stand for a page that is not there.
public struct Pager<Source: PageDataSource, Controller: PageController<Source.Content>> {
  /// Where content comes from.
  public let source: Source
  /// The controller of the page that one is on.
  public private(set) var current: Controller
  /// The other one: of the neighbour that shows, or that showed last.
  public private(set) var next: Controller
  /// Where the scroll is, in pages.
  public private(set) var offset: Double
  /// Whether the scroll has not ended.
  public private(set) var isScrolling = false
  private var lastRequest: UInt64 = 0

  /// A pager on one page; the neighbour behind it is configured, and asked for nothing until it shows.
  /// - Parameters:
  ///   - page: the page to begin with.
  ///   - now: milliseconds, as everywhere here: for the busy overlay.
  ///   - makeController: called twice.
  public init(source: Source, page: Int = 0, at now: Int64, makeController: () -> Controller) {
    self.source = source
    current = makeController()
    next = makeController()
    offset = 0
    configureBoth(page)
    refreshVisible(at: now)
  }

  /// Where one is, as dots that fit into a room.
  public func dots(room: Int) -> PageDots { PageDots(count: source.pageCount, current: current.page, room: room) }

  /// The controllers whose page shows at least in part, from left to right.
  public var visible: [Controller] {
    [current, next].filter { isVisible($0) }.sorted { $0.page < $1.page }
  }

  private func isVisible(_ controller: Controller) -> Bool { abs(Double(controller.page) - offset) < 1 }

  // MARK: - Scrolling

  /// The scroll moved, by hand or by an animation.
  public mutating func scroll(to offset: Double, at now: Int64) {
    guard offset.isFinite, abs(offset) < 1e9 else { return }
    let seen = visible.map(ObjectIdentifier.init)
    self.offset = offset
    isScrolling = true
    let lower = Int(offset.rounded(.down))
    // Exactly on a page no neighbour shows.
    let upper = Int(offset.rounded(.up))
    if !holds(lower) { configure(lower, besides: upper) }
    if !holds(upper) { configure(upper, besides: lower) }
    for controller in visible where controller.isStale {
      // What grew old in sight waits for the end; what grew old out of sight does not come into it like that.
      let appears = !seen.contains(ObjectIdentifier(controller)) || !controller.hasAsked
      if appears { refresh(controller, at: now) }
    }
  }

  private func holds(_ page: Int) -> Bool { current.page == page || next.page == page }

  /// Gives a page to the controller that does not stand for the other page that shows: to next, if it can be chosen.
  private mutating func configure(_ page: Int, besides other: Int) {
    let taker = next.page == other && other != page ? current : next
    taker.configure(page, count: source.pageCount)
  }

  /// The scroll came to rest: the nearest page that is there is the current one, and is refreshed once.
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

  /// Goes to a page at once, as by a dot or by its number; one that is not there is taken for the nearest that is.
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

  /// The content of pages is another one. A page at rest is refreshed now, one that scrolls at the end of the scroll, one
  /// that nobody sees when it appears.
  /// - Parameter pages: nil when it may be any, or when their count changed.
  public mutating func sourceDidChange(pages: Set<Int>? = nil, at now: Int64) {
    if pages == nil {
      let count = source.pageCount
      // What stood for no page may do so now, and the other way round.
      if inBounds(current.page) != current.page {
        return jump(to: current.page, at: now)
      }
      for controller in [current, next] where controller.changesBounds(count: count) {
        controller.configure(controller.page, count: count)
      }
    }
    for controller in [current, next] where pages?.contains(controller.page) ?? true { controller.markStale() }
    if !isScrolling { refreshVisible(at: now) }
  }

  /// The answer to a question that the source could not answer at once. One that nobody waits for any more, for its
  /// controller stands for another page or has asked again, is dropped.
  /// - Returns: whether it was taken.
  @discardableResult
  public func deliver(_ content: Source.Content, for request: PageRequest) -> Bool {
    current.take(.success(content), to: request) || next.take(.success(content), to: request)
  }

  /// The question has no answer; the sentence says why.
  /// - Returns: whether somebody waited for it.
  @discardableResult
  public func fail(_ request: PageRequest, _ sentence: String) -> Bool {
    let failure = PageFailure(sentence: sentence)
    return current.take(.failure(failure), to: request) || next.take(.failure(failure), to: request)
  }

  private mutating func refreshVisible(at now: Int64) {
    for controller in visible where controller.isStale { refresh(controller, at: now) }
  }

  private mutating func refresh(_ controller: Controller, at now: Int64) {
    lastRequest += 1
    controller.refresh(PageRequest(page: controller.page, number: lastRequest), source, at: now)
  }
}
