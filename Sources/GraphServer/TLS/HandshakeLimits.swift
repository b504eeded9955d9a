// Tests: TLSHandshakeTests.swift
import NIOCore

/// The limits of a connection before its TLS handshake is complete; docs/limits.md lists them.
enum HandshakeLimits {
  /// The time for the handshake, in seconds.
  static let seconds: Int64 = 10
  /// The bytes that a client may send before the handshake is complete. BoringSSL limits single messages to 16 KiB.
  static let maximumBytes = 64 << 10
  /// The handshake steps of all connections in one period; each costs up to a millisecond of the loop's time.
  static let stepsPerPeriod = 4
  /// The length of that period, in milliseconds. Between two periods the loop serves the sessions.
  static let periodMilliseconds: Int64 = 2
}
