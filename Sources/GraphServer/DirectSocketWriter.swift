// Tests: DirectSocketWriterTests.swift
import NIOCore
import NIOSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes to the socket of a connection directly, bypassing the channel's write queue, if that queue is empty. For a
/// delta to a thousand connections, the queue costs as much as all our own work; docs/decisions/0008 has the figures.
///
/// It does not exist for a connection with a TLS handler, because it looks for one in the pipeline itself: bytes that
/// bypass that handler would cross the network unencrypted.
///
/// The channel closes its descriptor and becomes inactive in one step, on its loop and without calling out in between,
/// so the descriptor is valid while the channel is active. Errors are left to the channel, which encounters them with
/// the rest.
package final class DirectSocketWriter {
  private let channel: any Channel
  /// Cached, because looking them up costs casts.
  private let options: any NIOSynchronousChannelOptions
  private let descriptor: NIOBSDSocket.Handle
  /// Whether the channel's queue may have bytes. Only the handler of the connection writes to the channel, so the
  /// channel's queue is empty until the handler has passed bytes to it.
  private var mayHaveQueue = true

  /// - Returns: nil for a channel with a TLS handler, or without a socket.
  package init?(_ channel: any Channel) {
    let pipeline = channel.pipeline.syncOperations
    // `context` throws if there is no such handler.
    let isEncrypted = (try? pipeline.context(handlerType: NIOSSLServerHandler.self)) != nil
    guard !isEncrypted, let options = channel.syncOptions,
      let descriptor = try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self, { $0 })
    else { return nil }
    (self.channel, self.options, self.descriptor) = (channel, options, descriptor)
  }

  /// Call it before each write to the channel.
  package func willQueue() { mayHaveQueue = true }

  /// Writes as many bytes as the socket accepts now. The channel's queue sends the bytes that remain in the buffer.
  package func write(_ buffer: inout ByteBuffer) {
    guard canWrite else { return }
    let sent = buffer.withUnsafeReadableBytes { bytes in
      send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }
    if sent > 0 { buffer.moveReaderIndex(forwardBy: sent) }
  }
  /// Writes a header and a body with one call, without copying the body, which many connections may share.
  /// - Returns: the number of bytes that the socket has accepted, of both.
  package func write(_ header: UnsafeRawBufferPointer, _ body: ByteBuffer) -> Int {
    guard canWrite else { return 0 }
    return body.withUnsafeReadableBytes { body in
      withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
        // The system only reads from these addresses.
        parts.initializeElement(
          at: 0, to: iovec(iov_base: UnsafeMutableRawPointer(mutating: header.baseAddress), iov_len: header.count))
        parts.initializeElement(
          at: 1, to: iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count))
        var message = msghdr()
        message.msg_iov = parts.baseAddress
        message.msg_iovlen = 2
        return max(0, sendmsg(descriptor, &message, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)))
      }
    }
  }

  /// Whether the bytes are not overtaken by those in the channel's queue. A closed channel takes nothing.
  private var canWrite: Bool {
    if mayHaveQueue, (try? options.getOption(.bufferedWritableBytes)) == 0 { mayHaveQueue = false }
    return !mayHaveQueue && channel.isActive
  }
}
