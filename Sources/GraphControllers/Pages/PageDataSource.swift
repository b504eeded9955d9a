/// A question for the content of a page.
public struct PageRequest: Hashable, Sendable {
  /// Which page.
  public var page: Int
  /// Tells questions for one page apart.
  public var number: UInt64

  /// A question; a pager numbers its own.
  public init(page: Int, number: UInt64) {
    self.page = page
    self.number = number
  }
}

/// Where the content of pages comes from. It knows nothing of paging: neither which pages are shown, nor that only two
/// controllers show them.
public protocol PageDataSource<Content>: AnyObject {
  /// What a page shows.
  associatedtype Content

  /// How many pages there are; they are numbered from 0.
  var pageCount: Int { get }

  /// The content of a page when it is at hand. Otherwise nil, and whoever owns the pager hands the answer in later, by
  /// `Pager.deliver` or `Pager.fail`, with this request.
  func content(for request: PageRequest) -> Content?
}
