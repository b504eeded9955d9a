import GraphModel

/// Supplies a results controller with rows: the objects in the result, and the effect of each commit on them.
/// Examples are a live query (`LiveQuerySource`) and a window of a longer result.
///
/// A source belongs to its controller's actor.
public protocol ResultsSource: AnyObject {
  /// The order of the rows.
  var order: ResultsOrder { get }
  /// The number of rows in the complete result, as of the last event; more than the loaded ones if the source holds a
  /// window.
  var totalCount: Int { get }
  /// The number of rows before the first loaded one; 0 if all are loaded.
  var offset: Int { get }
  /// Starts, or restarts after a failure. Calls `receive` with each event, in order, and never before this method
  /// returns unless the result is already available.
  func start(_ receive: @escaping (ResultsEvent) -> Void)
  /// Stops; `receive` is not called again.
  func stop()
  /// Returns the row of an object in the result.
  func row(of id: ObjectID) -> ResultsRow?
  /// Requests other rows of the complete result; the current rows stay until they arrive. Does nothing if all rows
  /// are loaded.
  func move(to window: ResultsWindow)
}

extension ResultsSource {
  /// 0, because all rows are loaded.
  public var offset: Int { 0 }
  /// Does nothing, because all rows are loaded.
  public func move(to window: ResultsWindow) {}
}

/// An event that a source sends to its controller.
public enum ResultsEvent: Sendable {
  /// The result was loaded or reloaded, or a commit changed it.
  case changed(ResultsCommit)
  /// The query failed, at once or later.
  case failed(Refusal)
}

/// The effect of one commit on a source's rows. It may touch rows without changing any, or change only the number of
/// rows in the complete result. It touches nothing if only relationships of the rows have been loaded.
public struct ResultsCommit: Sendable {
  /// The rows after the commit.
  public var snapshot: ResultsSnapshot
  /// The touched objects, each once.
  public var touched: [ResultsRowChange]
  /// The commit's revision; 0 for a loaded result.
  public var revision: Revision = 0
  /// The commit's author; empty for a loaded result.
  public var author = ""
  /// The commit's time; 0 for a loaded result.
  public var time: Timestamp = 0

  /// Creates a commit from the rows after it and the touched objects.
  public init(snapshot: ResultsSnapshot, touched: [ResultsRowChange]) {
    self.snapshot = snapshot
    self.touched = touched
  }
}
