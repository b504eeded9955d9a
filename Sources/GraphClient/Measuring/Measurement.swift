// Tests: InstrumentsTests.swift
import GraphModel
import Metrics
import Tracing

/// An operation in progress. It is finished once.
struct Measurement: Sendable {
  private let operation: ClientInstruments.Operation
  private let metrics: ClientMetrics?
  private let span: (any Span)?
  private let start = ContinuousClock.now

  init(_ operation: ClientInstruments.Operation, metrics: ClientMetrics?, span: (any Span)?) {
    (self.operation, self.metrics, self.span) = (operation, metrics, span)
  }

  /// Records a success.
  func finish(_ describe: (inout SpanAttributes) -> Void = { _ in }) {
    record(.ok)
    if let span {
      span.updateAttributes(describe)
      span.end()
    }
  }

  /// Records a failure. The span receives the error's code, and never its message, which may name values.
  func finish(throwing error: any Error) {
    record(MeasuredOutcome(error))
    if let span {
      span.updateAttributes { all in
        if let refusal = error as? Refusal { all["graph.code"] = refusal.code.rawValue }
      }
      span.setStatus(SpanStatus(code: .error, message: MeasuredOutcome(error).rawValue))
      span.end()
    }
  }

  private func record(_ outcome: MeasuredOutcome) {
    guard let timers = metrics?.timers[operation], let timer = timers[outcome] else {
      return assert(metrics == nil, "each operation and outcome has a timer")
    }
    timer.record(duration: start.duration(to: .now))
  }
}

/// The outcome of an operation. It is a dimension of the metrics and therefore has few values.
enum MeasuredOutcome: String, Sendable, CaseIterable {
  case ok, refused, unavailable, cancelled

  init(_ error: any Error) {
    switch error {
    case is CancellationError: self = .cancelled
    case is ConnectFailure: self = .unavailable
    case let refusal as Refusal where refusal.code == .unavailable: self = .unavailable
    case let refusal as Refusal where refusal.code == .cancelled: self = .cancelled
    default: self = .refused
    }
  }
}
