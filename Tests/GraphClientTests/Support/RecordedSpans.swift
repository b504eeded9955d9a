import Synchronization
import Tracing

/// A tracer that keeps its ended spans, in the order of their ends.
final class RecordedSpans: Tracer {
  private let spans = Mutex([RecordedSpan]())

  /// The ended spans.
  var ended: [RecordedSpan] { spans.withLock { $0 } }

  /// The ended spans of a name.
  func named(_ name: String) -> [RecordedSpan] { ended.filter { $0.operationName == name } }

  fileprivate func append(_ span: RecordedSpan) { spans.withLock { $0.append(span) } }

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> RecordedSpan {
    RecordedSpan(name: operationName, kind: kind, context: context(), of: self)
  }

  func forceFlush() {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {}

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {}
}

/// A span that records its name, attributes, status and end.
final class RecordedSpan: Span {
  private struct State {
    var name: String
    var attributes = SpanAttributes()
    var status: SpanStatus?
    var endCount = 0
  }

  let kind: SpanKind
  let context: ServiceContext
  private let owner: RecordedSpans
  private let state: Mutex<State>

  init(name: String, kind: SpanKind, context: ServiceContext, of owner: RecordedSpans) {
    (self.kind, self.context, self.owner) = (kind, context, owner)
    state = Mutex(State(name: name))
  }

  var operationName: String {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }
  var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { state.withLock { $0.attributes = newValue } }
  }
  /// The code and the message of a failure; nil for a success.
  var failure: String? { state.withLock { $0.status.map { "\($0.code) \($0.message ?? "-")" } } }
  /// How often the span was ended.
  var endCount: Int { state.withLock { $0.endCount } }
  var isRecording: Bool { endCount == 0 }

  /// An attribute as text; nil if it is not set.
  func text(_ name: String) -> String? {
    switch attributes.get(name) {
    case .string(let text): text
    case .int64(let number): "\(number)"
    case .int32(let number): "\(number)"
    default: nil
    }
  }

  func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }
  func addEvent(_ event: SpanEvent) {}
  func addLink(_ link: SpanLink) {}
  func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {}

  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    state.withLock { $0.endCount += 1 }
    owner.append(self)
  }
}
