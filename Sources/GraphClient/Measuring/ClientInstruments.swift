// Tests: InstrumentsTests.swift
import GraphModel
import GraphReplica
import GraphWire
import Metrics
import Tracing

/// The metrics and the tracer of a client. docs/guides/connecting.md lists the names and units.
///
/// All handles are made once, with the client. Without a backend the client begins no measurement: it then reads no
/// clock and makes no span. A class, because each request and each commit uses it: one reference is copied, not all
/// handles.
final class ClientInstruments: Sendable {
  /// The measured operations. The raw value is a part of the names of metrics and spans.
  enum Operation: String, Sendable, CaseIterable {
    case connect, reconnect, fetch, save
  }

  private let metrics: ClientMetrics?
  private let tracer: (any Tracer)?
  private let address: ServerAddress

  /// The instruments of the options, or else those that the program has bootstrapped.
  init(_ options: GraphClient.Options, address: ServerAddress) {
    self.address = address
    let factory = options.metricsFactory ?? MetricsSystem.factory
    metrics = factory is NOOPMetricsHandler ? nil : ClientMetrics(factory)
    let tracer = options.tracer ?? InstrumentationSystem.tracer
    self.tracer = tracer is NoOpTracer ? nil : tracer
  }

  // MARK: - Operations

  /// Begins to measure an operation. Its span is a child of the task's current one.
  /// - Parameter attributes: the span's attributes; not evaluated without a tracer.
  /// - Returns: nil without a backend.
  func begin(_ operation: Operation, _ attributes: @autoclosure () -> SpanAttributes = [:]) -> Measurement? {
    if metrics == nil, tracer == nil { return nil }
    let span = tracer?.startAnySpan("graph.\(operation.rawValue)", ofKind: .client)
    span?.updateAttributes { all in
      all = attributes()
      all["graph.address"] = address.description
    }
    return Measurement(operation, metrics: metrics, span: span)
  }

  /// Measures a call.
  /// - Parameter describe: adds the attributes of the result to the span.
  func measure<Result>(
    _ operation: Operation, _ attributes: @autoclosure () -> SpanAttributes = [:],
    describe: (Result, inout SpanAttributes) -> Void = { _, _ in },
    _ body: () async throws -> Result
  ) async throws -> Result {
    guard let measurement = begin(operation, attributes()) else { return try await body() }
    do {
      let result = try await body()
      measurement.finish { describe(result, &$0) }
      return result
    } catch {
      measurement.finish(throwing: error)
      throw error
    }
  }

  // MARK: - Events

  /// Records that a connection was made, or was lost or closed.
  func recordConnection(isOpen: Bool) {
    if isOpen { metrics?.connections.increment() } else { metrics?.connections.decrement() }
  }

  /// Records an attempt to make a lost connection again.
  func recordAttempt() { metrics?.attempts.increment() }

  /// Records that a lost connection was made again.
  func recordReconnect() { metrics?.reconnects.increment() }

  /// Records how long ago a commit was made that has just reached the live queries. Two clocks are compared: a lag
  /// below zero counts as zero.
  func recordLag(of update: CommitUpdate) {
    if let metrics {
      // The server may send any time.
      let (lag, isAbsurd) = GraphClient.now.subtractingReportingOverflow(update.time)
      if !isAbsurd { metrics.liveLag.recordMicroseconds(max(0, lag)) }
    }
  }
}

/// The handles of a client's metrics.
struct ClientMetrics: Sendable {
  let timers: [ClientInstruments.Operation: [MeasuredOutcome: Timer]]
  let connections: Meter
  let reconnects: Counter
  let attempts: Counter
  let liveLag: Timer

  init(_ factory: any MetricsFactory) {
    var timers = [ClientInstruments.Operation: [MeasuredOutcome: Timer]]()
    for operation in ClientInstruments.Operation.allCases {
      for outcome in MeasuredOutcome.allCases {
        timers[operation, default: [:]][outcome] = Timer(
          label: "graph.client.\(operation.rawValue).duration", dimensions: [("graph.outcome", outcome.rawValue)],
          factory: factory)
      }
    }
    self.timers = timers
    connections = Meter(label: "graph.client.connections", factory: factory)
    reconnects = Counter(label: "graph.client.reconnects", factory: factory)
    attempts = Counter(label: "graph.client.reconnect.attempts", factory: factory)
    liveLag = Timer(label: "graph.client.live.lag", factory: factory)
  }
}
