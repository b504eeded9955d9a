import GraphModel

/// Where a results controller has its rows from: which objects are in the result, and what each commit does to them. A live
/// query is one (`LiveQuerySource`); a window of a longer result can be another.
///
/// A source belongs to one actor, that of its controller.
public protocol ResultsSource: AnyObject {
  /// The order of its rows.
  var order: ResultsOrder { get }
  /// How many rows the whole result has; more than are here for a source that holds a part.
  var totalCount: Int { get }
  /// How many rows come before those that are here; 0 for a source that holds all of them.
  var offset: Int { get }
  /// Begins, or begins again after a failure: `receive` is called with each event, in order, never before this returns
  /// unless the result is here already.
  func start(_ receive: @escaping (ResultsEvent) -> Void)
  /// Ends: nothing is received any more.
  func stop()
  /// The row of an object that is in the result.
  func row(of id: ObjectID) -> ResultsRow?
  /// Other rows of the whole result are wanted; what is here stays until they come. A source that holds all of them does
  /// nothing.
  func move(to window: ResultsWindow)
}

extension ResultsSource {
  /// All rows are here.
  public var offset: Int { 0 }
  /// All rows are here.
  public func move(to window: ResultsWindow) {}
}

/// What a source tells its controller.
public enum ResultsEvent: Sendable {
  /// The result came, came anew, or a commit changed it.
  case changed(ResultsCommit)
  /// There is no result, or no more.
  case failed(Refusal)
}

/// What one commit did to a source's rows. It may touch rows and change nothing.
public struct ResultsCommit: Sendable {
  /// The rows after it.
  public var snapshot: ResultsSnapshot
  /// The objects that it touched, each once.
  public var touched: [ResultsTouch]
  /// The commit; 0 for a result that was loaded.
  public var revision: Revision = 0
  /// Who committed; empty for a result that was loaded.
  public var author = ""
  /// When; 0 for a result that was loaded.
  public var time: Timestamp = 0

  /// The rows after a commit, and those that it touched.
  public init(snapshot: ResultsSnapshot, touched: [ResultsTouch]) {
    self.snapshot = snapshot
    self.touched = touched
  }
}
