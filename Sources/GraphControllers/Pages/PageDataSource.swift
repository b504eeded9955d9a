/// A request for the content of a page.
public struct PageRequest: Hashable, Sendable {
  /// The page's number.
  public var page: Int
  /// Distinguishes requests for the same page.
  public var number: UInt64

  /// Creates a request; a pager assigns the numbers.
  public init(page: Int, number: UInt64) {
    self.page = page
    self.number = number
  }
}

/// Supplies the content of pages. It does not know which pages are shown, nor that two controllers show all of them.
public protocol PageDataSource<Content>: AnyObject {
  /// The content of a page.
  associatedtype Content

  /// The number of pages; they are numbered from 0.
  var pageCount: Int { get }

  /// Returns the content of a page if it is available. Otherwise returns nil, and the pager's owner passes the answer
  /// later to `Pager.deliver` or `Pager.fail`, with this request.
  func content(for request: PageRequest) -> Content?
}
