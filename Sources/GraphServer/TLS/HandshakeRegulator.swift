// Tests: TLSHandshakeTests.swift
import GraphModel
import Logging
import NIOCore

/// A connection whose bytes wait for the handshake regulator.
protocol WaitingHandshake: AnyObject {
  /// Passes the waiting bytes on.
  /// - Returns: false if the connection has closed meanwhile.
  func proceed() -> Bool
}

/// Counts the TLS handshakes of all connections, and spreads them over time, so that many at once don't hold up the
/// sessions on the same loop.
///
/// A handshake's signature takes longer than a commit. When the steps of a period are used up, further bytes wait in
/// their gates, in order of arrival, and their sockets are not read meanwhile.
///
/// `@unchecked Sendable`: all state is used on `loop` only.
final class HandshakeRegulator: @unchecked Sendable {
  private let loop: any EventLoop
  private let log: Logger
  private var waiting = CircularBuffer<any WaitingHandshake>()
  private var usedSteps = 0
  private var isPeriodRunning = false
  private var logLimiter = LogRateLimiter(clock: { Int64(NIODeadline.now().uptimeNanoseconds) })
  /// The handshakes that are not complete. They count towards the maximum number of connections.
  private(set) var openCount = 0

  init(loop: any EventLoop, log: Logger) { (self.loop, self.log) = (loop, log) }

  /// Whether a connection may pass its bytes on now; otherwise `proceed` is called later.
  func allowsStep(of handshake: any WaitingHandshake) -> Bool {
    loop.assertInEventLoop()
    if !isPeriodRunning { startPeriod() }
    if waiting.isEmpty, usedSteps < HandshakeLimits.stepsPerPeriod {
      usedSteps += 1
      return true
    }
    waiting.append(handshake)
    return false
  }

  private func startPeriod() {
    isPeriodRunning = true
    usedSteps = 0
    loop.scheduleTask(in: .milliseconds(HandshakeLimits.periodMilliseconds)) { self.endPeriod() }
  }

  private func endPeriod() {
    assert(usedSteps <= HandshakeLimits.stepsPerPeriod, "a period has a limited number of steps")
    isPeriodRunning = false
    if waiting.isEmpty { return }
    startPeriod()
    // A connection that has closed meanwhile uses no step.
    while usedSteps < HandshakeLimits.stepsPerPeriod, let next = waiting.popFirst() {
      if next.proceed() { usedSteps += 1 }
    }
  }

  func begin() { openCount += 1 }

  func end() {
    openCount -= 1
    assert(openCount >= 0, "a handshake ends once")
  }

  /// Logs why a handshake failed, at most one line in ten seconds: on a public address, scanners cause many.
  func recordFailure(_ reason: String) {
    if let omitted = logLimiter.omitted(before: "handshake") {
      log.info(
        "a TLS handshake failed",
        metadata: ["reason": "\(reason)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 })
    }
  }
}
