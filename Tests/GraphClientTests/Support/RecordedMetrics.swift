import Metrics
import Synchronization

/// A backend of metrics that keeps every value by the label and the dimensions: `graph.client.save.duration ok`.
final class RecordedMetrics: MetricsFactory {
  private let values = Mutex([String: [Int64]]())

  /// The recorded values of a metric, in order; an empty list for one without values.
  subscript(_ name: String) -> [Int64] { values.withLock { $0[name, default: []] } }

  /// The names of the metrics with values.
  var names: Set<String> { values.withLock { Set($0.keys) } }

  fileprivate func append(_ value: Int64, to name: String) { values.withLock { $0[name, default: []].append(value) } }

  private func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
    Handler(name: ([label] + dimensions.map(\.1)).joined(separator: " "), owner: self)
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { handler(label, dimensions) }
  func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
    handler(label, dimensions)
  }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { handler(label, dimensions) }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    handler(label, dimensions)
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { handler(label, dimensions) }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}

  /// A metric of any kind. A decrement is a negative value.
  private final class Handler: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler,
    TimerHandler
  {
    let name: String
    let owner: RecordedMetrics

    init(name: String, owner: RecordedMetrics) { (self.name, self.owner) = (name, owner) }

    func increment(by amount: Int64) { owner.append(amount, to: name) }
    func increment(by amount: Double) { owner.append(Int64(amount), to: name) }
    func decrement(by amount: Double) { owner.append(-Int64(amount), to: name) }
    func record(_ value: Int64) { owner.append(value, to: name) }
    func record(_ value: Double) { owner.append(Int64(value), to: name) }
    func recordNanoseconds(_ duration: Int64) { owner.append(duration, to: name) }
    func set(_ value: Int64) { owner.append(value, to: name) }
    func set(_ value: Double) { owner.append(Int64(value), to: name) }
    func reset() {}
  }
}
