import Foundation
import Logging
import NIOCore

/// Pauses accepting after an error, such as a reached descriptor limit.
///
/// A connection that cannot be accepted keeps its socket ready, so without a pause the event loop would spin.
/// Meanwhile the connection waits in the kernel's backlog.
///
/// `@unchecked Sendable`: `reported` is only used on the one event loop that carries all listeners.
final class AcceptBackoff: @unchecked Sendable {
  private let log: Logger
  /// The time of the last logged error.
  private var reported: NIODeadline?

  /// The length of the pause after an error.
  static let length = TimeAmount.milliseconds(250)
  /// The time without a log line after which an error is logged again.
  private static let quiet = TimeAmount.seconds(60)

  init(log: Logger) { self.log = log }

  /// A handler for the pipeline of one listening socket.
  func handler() -> AcceptBackoffHandler {
    AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { error in
      self.report(error)
      return Self.length
    }
  }

  private func report(_ error: IOError) {
    let now = NIODeadline.now()
    if let reported, now - reported < Self.quiet { return }
    reported = now
    var metadata: Logger.Metadata = ["cause": "\(error)"]
    if error.errnoCode == EMFILE || error.errnoCode == ENFILE { metadata["advice"] = "\(DescriptorLimit.advice)" }
    log.error("no connection can be accepted; new ones wait", metadata: metadata)
  }
}

/// The number of files and sockets that this process may have open.
enum DescriptorLimit {
  /// The soft limit; nil if there is none.
  static var number: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int.max) else {
      return nil
    }
    return Int(limit.rlim_cur)
  }

  /// The descriptors that connections leave to the store, its readers and large results.
  static let reserve = 64

  /// The advice to the operator at the limit.
  static var advice: String {
    "This process may have \(number.map(String.init) ?? "unlimited") files and sockets open: raise the limit (ulimit -n, "
      + "LimitNOFILE= of a systemd unit), or close some connections."
  }

  /// The number of connections that this limit allows, at most `maximum`.
  static func connections(_ maximum: Int) -> Int {
    guard let number else { return maximum }
    return max(1, min(maximum, number - reserve))
  }

  /// The number of connections that this limit allows for each of two kinds, at most `maximum`. Connections to the
  /// server's own addresses and connections to its interfaces share the limit.
  static func sharedConnections(_ maximum: Int) -> Int {
    guard let number else { return maximum }
    return max(1, min(maximum, (number - reserve) / 2))
  }
}
