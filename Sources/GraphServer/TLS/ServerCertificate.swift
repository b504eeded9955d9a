// Tests: ServerCertificateTests.swift
import Foundation
import GraphModel
import GraphWire
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The certificate with which a server identifies itself, and its replacement while the server runs.
///
/// Later handshakes use the replacement; existing connections keep their negotiated keys. A new certificate takes
/// effect by `reload`, or automatically when both files are unchanged in two checks a second apart, because a renewal
/// replaces one file after the other. If the files can't be used, the former certificate stays in use, and a log line
/// reports the reason.
public final class ServerCertificate: Sendable {
  private struct State: Sendable {
    var contents: CertificateFiles.Contents
    /// The files as they were when they were last read, whether or not they could be served.
    var readStamp: CertificateFiles.Stamp
    /// The files at the last check, if they differ from the files that were read.
    var changedStamp: CertificateFiles.Stamp?
  }

  private let files: CertificateFiles
  /// Guarded by its mutex: handshakes read it on the loop, and checks change it on a thread for short reads.
  private let state: Mutex<State>

  /// The rest of the validity, in seconds, below which the log has a warning at each start and replacement: two weeks.
  private static let shortValidity: Int64 = 14 * 86_400

  /// Reads the certificate and its key.
  /// - Parameters:
  ///   - certificate: the path of a PEM file with the server's certificate, then those of its issuers.
  ///   - key: the path of a PEM file with the private key, which only this user may read.
  /// - Throws: `CertificateFailure`.
  public init(certificate: String, key: String) throws(CertificateFailure) {
    files = CertificateFiles(certificate: certificate, key: key)
    let contents = try files.read(now: Self.now)
    state = Mutex(State(contents: contents, readStamp: contents.stamp))
  }

  /// The hash of the public key, which a client can pin.
  public var keyHash: PublicKeyHash { state.withLock { $0.contents.keyHash } }

  var context: NIOSSLContext { state.withLock { $0.contents.context } }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

  /// Reads the files again, and logs the outcome.
  /// - Returns: whether they can be served.
  @discardableResult public func reload(_ log: Logger) -> Bool {
    let stamp = files.stamp
    do {
      let contents = try files.read(now: Self.now)
      state.withLock { $0 = State(contents: contents, readStamp: contents.stamp) }
      self.log(to: log, "the certificate was replaced")
      return true
    } catch {
      state.withLock { ($0.readStamp, $0.changedStamp) = (stamp, nil) }
      log.error(
        "the new certificate can't be used; the former one stays in use", metadata: ["failure": "\(error)"])
      return false
    }
  }

  /// Logs which certificate is in use, and checks its files every second.
  func startChecks(on loop: any EventLoop, _ readers: ReaderPool, _ log: Logger) -> RepeatedTask {
    self.log(to: log, "the certificate was read")
    return loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [self] _ in
      readers.enqueue { self.check(log) }
    }
  }

  /// Compares the files with the ones that were read, and reads them if they differ and are unchanged since the last
  /// check.
  func check(_ log: Logger) {
    let stamp = files.stamp
    let isSettled = state.withLock { state in
      guard stamp != state.readStamp else {
        state.changedStamp = nil
        return false
      }
      defer { state.changedStamp = stamp }
      return state.changedStamp == stamp
    }
    if isSettled { reload(log) }
  }

  /// Logs which certificate is in use, and a warning shortly before its end.
  func log(to log: Logger, _ message: Logger.Message) {
    let contents = state.withLock { $0.contents }
    let end = RFC3339.text(contents.end * 1_000_000)
    log.info(message, metadata: ["key": "\(contents.keyHash)", "validUntil": "\(end)"])
    if contents.end - Self.now < Self.shortValidity {
      log.warning("the certificate expires soon; renew it", metadata: ["validUntil": "\(end)"])
    }
  }
}
