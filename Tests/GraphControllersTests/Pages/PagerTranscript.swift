import GraphControllers

/// Pages whose content is their name; a slow source answers later.
final class FakePages: PageDataSource {
  var pageCount: Int
  var isSlow = false
  /// Counts up when content changes.
  var edition = 1
  private(set) var asked = [PageRequest]()

  init(_ count: Int) { pageCount = count }

  func content(for request: PageRequest) -> String? {
    asked.append(request)
    return isSlow ? nil : text(request.page)
  }

  func text(_ page: Int) -> String { "page \(page), edition \(edition)" }
}

/// A page controller with something to count in place of a view.
final class FakePageController: PageController<String> {
  private(set) var configured = [Int]()
  override func didConfigure() { configured.append(page) }
}

/// A pager whose state is a line of text: `2 | 3` are the current and the next controller. A visible one is followed by
/// its content.
final class PagerTranscript {
  let source: FakePages
  private(set) var made = [FakePageController]()
  var pager: Pager<FakePages, FakePageController>
  var now: Int64 = 0

  init(_ count: Int, at page: Int = 0, isSlow: Bool = false) {
    let source = FakePages(count)
    source.isSlow = isSlow
    var made = [FakePageController]()
    pager = Pager(source: source, page: page, at: 0) {
      made.append(FakePageController())
      return made[made.count - 1]
    }
    self.source = source
    self.made = made
  }

  var configurations: Int { made.reduce(0) { $0 + $1.configured.count } }
  var refreshes: Int { source.asked.count }

  func scroll(_ offsets: Double...) -> String {
    for offset in offsets { pager.scroll(to: offset, at: now) }
    return line
  }

  func end() -> String {
    pager.endScroll(at: now)
    return line
  }

  func jump(_ page: Int) -> String {
    pager.jump(to: page, at: now)
    return line
  }

  var line: String { "\(name(pager.current)) | \(name(pager.next))" }

  private func name(_ controller: FakePageController) -> String {
    "\(controller.page)\(controller.isStale ? " stale" : "")"
  }

  func pageContent(_ controller: FakePageController) -> String {
    switch controller.pageContent(at: now) {
    case .outOfBounds: "none"
    case .waiting(let picture): picture.map { $0.message } ?? "empty"
    case .content(let text): text
    case .failed(let sentence): "failed: \(sentence)"
    }
  }

  var pageContents: [String] { pager.visible.map(pageContent) }
}
