// Tests: CommitTests.swift, StoreInvariantTests.swift
import GraphModel

/// Checksums of the images that a commit writes.
extension StoreWriter {
  /// Returns the checksum of each change's image.
  /// - Parameter body: called for each change with its index and the image in its binary form.
  func sums(
    of changes: [ObjectChange], _ size: inout Int, _ body: (Int, [UInt8]) -> Void = { _, _ in }
  ) throws -> [UInt64] {
    var sums = [UInt64]()
    sums.reserveCapacity(changes.count)
    var buffer = takeScratch()
    defer { scratch = buffer }
    // Access in place, because a copy of a change costs more than the reads here.
    try changes.withUnsafeBufferPointer { changes in
      for index in changes.indices {
        let image = try invariant(changes[index].after ?? changes[index].before, "a change has an image")
        sums.append(try sum(image, &size, in: &buffer))
        body(index, buffer.bytes)
      }
    }
    assert(sums.count == changes.count)
    return sums
  }

  /// - Parameter size: increased by the image's size in bytes.
  func sum(_ image: ObjectImage, _ size: inout Int) throws -> UInt64 {
    var buffer = takeScratch()
    defer { scratch = buffer }
    return try sum(image, &size, in: &buffer)
  }

  /// Takes the buffer; the caller puts it back.
  private func takeScratch() -> BinaryWriter {
    defer { scratch = BinaryWriter(capacity: 0) }
    // Releases the memory of a huge object.
    return scratch.bytes.capacity > 1 << 20 ? BinaryWriter(capacity: 1_024) : scratch
  }

  private func sum(_ image: ObjectImage, _ size: inout Int, in buffer: inout BinaryWriter) throws -> UInt64 {
    buffer.bytes.removeAll(keepingCapacity: true)
    if layout.numbers.keepsEntities {
      image.encode(to: &buffer)
    } else {
      layout.numbers.stored(image).encode(to: &buffer)
    }
    guard buffer.bytes.count <= ObjectImage.maximumSize else {
      let name = layout.model.displayName(of: image.id.entity)
      throw Refusal(
        .limit, "the \(name) would have \(buffer.bytes.count) bytes; at most \(ObjectImage.maximumSize) are allowed")
    }
    size += buffer.bytes.count
    return Checksum.of(buffer.bytes)
  }
}
