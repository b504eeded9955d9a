/// The content that a page controller shows.
public enum PageContent<Content> {
  /// The page does not exist: the space before the first page or after the last one.
  case outOfBounds
  /// The content is loading: the busy overlay, or nil before its delay has passed.
  case waiting(BusyAppearance?)
  /// The content of the controller's page, never of another one.
  case content(Content)
  /// Loading failed; the text gives the reason.
  case failed(String)
}

/// One of the two controllers that show all pages. A pager configures it for different pages in turn; a front end
/// subclasses it to add a view.
///
/// Configuring is cheap: content is requested when the page appears. Until then the page is *stale*. So is a page that
/// changes while it is not visible.
open class PageController<Content> {
  /// The page that the controller shows; it may not exist.
  public private(set) var page = Int.min
  /// Whether the content may be outdated.
  public private(set) var isStale = false
  private var isOutOfBounds = true
  private var content: Content?
  private var failure: String?
  private var busy = BusyOverlay()
  private var waiting: (request: PageRequest, token: BusyToken?)?

  /// Creates a controller without a page.
  public init() {}

  /// Called after the controller was assigned to another page; its view moves there and shows `pageContent`.
  open func didConfigure() {}

  /// Called after `pageContent` has changed.
  open func didChangePageContent() {}

  /// Returns what to show.
  /// - Parameter now: the time in milliseconds, for the busy overlay.
  public func pageContent(at now: Int64) -> PageContent<Content> {
    if isOutOfBounds { return .outOfBounds }
    if let content { return .content(content) }
    if let failure { return .failed(failure) }
    return .waiting(busy.appearance(at: now))
  }

  /// Returns the next time at which the face changes without an event; nil if it does not.
  public func nextChange(after now: Int64) -> Int64? { content == nil ? busy.nextChange(after: now) : nil }

  /// Whether the user may edit the page now.
  public var allowsEditing: Bool { busy.allowsEditing }

  // MARK: - For the pager

  func configure(_ page: Int, count: Int) {
    stopWaiting()
    self.page = page
    isOutOfBounds = page < 0 || page >= count
    isStale = !isOutOfBounds
    (content, failure) = (nil, nil)
    didConfigure()
  }

  func markStale() { isStale = !isOutOfBounds }

  var isWaiting: Bool { waiting != nil }

  /// Whether content has been requested since the last configuration.
  var hasRequested: Bool { waiting != nil || content != nil || failure != nil }

  /// Returns whether the page would begin or cease to exist with this number of pages.
  func changesBounds(count: Int) -> Bool { isOutOfBounds != (page < 0 || page >= count) }

  /// Requests the content. The current content of this page stays until the answer arrives.
  func refresh(_ request: PageRequest, _ source: some PageDataSource<Content>, at now: Int64) {
    guard !isOutOfBounds else { return }
    isStale = false
    guard let new = source.content(for: request) else {
      // Begin the new wait before the old one ends, so that a visible overlay stays visible.
      let token = content == nil ? busy.show(.loading, at: now) : nil
      stopWaiting()
      waiting = (request, token)
      failure = nil
      return didChangePageContent()
    }
    stopWaiting()
    set(new)
  }

  /// Handles the answer to the latest request; ignores the answer to any other.
  func receive(_ answer: Result<Content, PageFailure>, to request: PageRequest) -> Bool {
    guard waiting?.request == request else { return false }
    stopWaiting()
    switch answer {
    case .success(let new): set(new)
    case .failure(let error):
      failure = error.sentence
      didChangePageContent()
    }
    return true
  }

  private func set(_ new: Content) {
    (content, failure) = (new, nil)
    didChangePageContent()
  }

  private func stopWaiting() {
    if let token = waiting?.token { busy.hide(token) }
    waiting = nil
  }
}

struct PageFailure: Error {
  let sentence: String
}
