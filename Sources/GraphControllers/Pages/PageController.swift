/// What a page controller has to show.
public enum PageFace<Content> {
  /// There is no such page: the room before the first and behind the last one.
  case outOfBounds
  /// The content is on its way: the overlay, or nothing yet while it is not slow.
  case waiting(BusyPicture?)
  /// The content of the controller's page, never of another one.
  case content(Content)
  /// The content could not be had; the sentence says why.
  case failed(String)
}

/// One of the two controllers that show all pages. A pager configures it for one page after the other; a face makes a
/// subclass that holds its view.
///
/// Being configured costs nothing: content is asked for when the page appears. Until then the page is *stale*, as is one
/// that changes while nobody sees it.
open class PageController<Content> {
  /// The page that it stands for; it may be one that is not there.
  public private(set) var page = Int.min
  /// Whether what it holds may be old.
  public private(set) var isStale = false
  private var isOutOfBounds = true
  private var content: Content?
  private var failure: String?
  private var busy = BusyOverlay()
  private var waiting: (request: PageRequest, token: BusyToken?)?

  /// A controller that stands for no page yet.
  public init() {}

  /// It stands for another page now; its view moves there and shows `face`.
  open func didConfigure() {}

  /// `face` is another one.
  open func didChangeFace() {}

  /// What is to be shown.
  /// - Parameter now: milliseconds, for the busy overlay.
  public func face(at now: Int64) -> PageFace<Content> {
    if isOutOfBounds { return .outOfBounds }
    if let content { return .content(content) }
    if let failure { return .failed(failure) }
    return .waiting(busy.picture(at: now))
  }

  /// When the face changes by time alone; nil when it does not.
  public func nextChange(after now: Int64) -> Int64? { content == nil ? busy.nextChange(after: now) : nil }

  /// Whether it makes sense to edit something on this page now.
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

  /// Whether it has asked for its content since it was configured.
  var hasAsked: Bool { waiting != nil || content != nil || failure != nil }

  /// Whether its page comes to be, or ceases to be, when there are so many.
  func changesBounds(count: Int) -> Bool { isOutOfBounds != (page < 0 || page >= count) }

  /// Asks for the content. What it shows of this page stays until the answer is there.
  func refresh(_ request: PageRequest, _ source: some PageDataSource<Content>, at now: Int64) {
    guard !isOutOfBounds else { return }
    isStale = false
    guard let new = source.content(for: request) else {
      // The new wait begins before the old one ends, so that an overlay which shows goes on showing.
      let token = content == nil ? busy.show(.loading, at: now) : nil
      stopWaiting()
      waiting = (request, token)
      failure = nil
      return didChangeFace()
    }
    stopWaiting()
    set(new)
  }

  /// Takes the answer to its newest question; another one is not for it.
  func take(_ answer: Result<Content, PageFailure>, to request: PageRequest) -> Bool {
    guard waiting?.request == request else { return false }
    stopWaiting()
    switch answer {
    case .success(let new): set(new)
    case .failure(let error):
      failure = error.sentence
      didChangeFace()
    }
    return true
  }

  private func set(_ new: Content) {
    (content, failure) = (new, nil)
    didChangeFace()
  }

  private func stopWaiting() {
    if let token = waiting?.token { busy.hide(token) }
    waiting = nil
  }
}

struct PageFailure: Error {
  let sentence: String
}
