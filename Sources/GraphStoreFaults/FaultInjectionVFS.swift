// Tests: DurabilityTests.swift, LowDiskSpaceTests.swift
import Foundation
import GRDBSQLite
import GraphModel
import Synchronization

/// An `sqlite3_vfs` that forwards to the default one and injects faults.
///
/// A number stored before the wrapped file identifies each open file; a table holds its other data.
enum FaultInjectionVFS {
  /// The data before the wrapped file in the memory that SQLite allocates.
  private struct Header {
    var base: sqlite3_file
    var number: Int64
  }

  private struct OpenFile {
    let path: String
    let folder: String
    let generation: Int
  }

  private static let files = Mutex<(last: Int64, open: [Int64: OpenFile])>((0, [:]))
  // Written once in `install`, before SQLite knows the layer, and only read afterwards.
  private nonisolated(unsafe) static var inner: UnsafeMutablePointer<sqlite3_vfs>?
  // As `inner`.
  private nonisolated(unsafe) static var methods: UnsafeMutablePointer<sqlite3_io_methods>?

  static func install() {
    guard let original = sqlite3_vfs_find(nil) else { preconditionFailure("SQLite has a default VFS") }
    inner = original
    let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    table.initialize(to: ioMethods())
    methods = table
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    layer.initialize(to: original.pointee)
    layer.pointee.pNext = nil
    layer.pointee.zName = UnsafePointer(strdup("crashable"))
    layer.pointee.szOsFile = Int32(MemoryLayout<Header>.stride) + original.pointee.szOsFile
    layer.pointee.xOpen = { _, name, file, flags, outFlags in FaultInjectionVFS.open(name, file, flags, outFlags) }
    layer.pointee.xDelete = { _, name, sync in
      if let name, FaultInjectionVFS.isDead(String(cString: name)) { return SQLITE_OK }
      return FaultInjectionVFS.inner.map { $0.pointee.xDelete($0, name, sync) } ?? SQLITE_ERROR
    }
    sqlite3_vfs_register(layer, 1)
  }

  /// Whether a connection from before the crash still has files open. It must not delete a file, which belongs to the
  /// connection after the crash.
  private static func isDead(_ path: String) -> Bool {
    guard let folder = CrashableFiles.folder(of: path) else { return false }
    return files.withLock { files in
      files.open.values.contains { $0.folder == folder.path && $0.generation != folder.generation }
    }
  }

  private static func wrapped(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<sqlite3_file>? {
    file.map {
      UnsafeMutableRawPointer($0).advanced(by: MemoryLayout<Header>.stride).assumingMemoryBound(to: sqlite3_file.self)
    }
  }

  private static func number(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int64 {
    guard let file else { preconditionFailure("SQLite passes the file of each operation") }
    return UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self).pointee.number
  }

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let inner, let file, let wrapped = wrapped(file) else { return SQLITE_ERROR }
    file.pointee.pMethods = nil
    wrapped.pointee.pMethods = nil
    if let name, let folder = CrashableFiles.folder(of: String(cString: name)), CrashableFiles.isOff(folder.path) {
      return SQLITE_CANTOPEN
    }
    let code = inner.pointee.xOpen(inner, name, wrapped, flags, outFlags)
    guard code == SQLITE_OK, wrapped.pointee.pMethods != nil else { return code }
    let number = files.withLock { files -> Int64 in
      files.last += 1
      if let name {
        let path = String(cString: name)
        if let folder = CrashableFiles.folder(of: path) {
          files.open[files.last] = OpenFile(path: path, folder: folder.path, generation: folder.generation)
        }
      }
      return files.last
    }
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self).pointee.number = number
    file.pointee.pMethods = UnsafePointer(methods)
    return code
  }

  private enum Operation { case write, sync, lock }

  /// SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC and SQLITE_IOERR_LOCK, macros that Swift can't import.
  private static let writeFailed = SQLITE_IOERR | 3 << 8
  private static let syncFailed = SQLITE_IOERR | 4 << 8
  private static let lockFailed = SQLITE_IOERR | 15 << 8
  private static let defaultSectorSize: Int32 = 4_096
  private static let noCharacteristics: Int32 = 0

  /// Returns the open file and the result code of an operation; SQLITE_OK forwards the operation.
  private static func verdict(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ operation: Operation
  ) -> (file: OpenFile?, code: Int32) {
    let number = number(file)
    guard let open = files.withLock({ $0.open[number] }) else { return (nil, SQLITE_OK) }
    let code = CrashableFiles.folders.withLock { folders -> Int32 in
      guard var folder = folders[open.folder] else { return SQLITE_OK }
      // Connections from before the crash may still release their locks.
      if folder.generation != open.generation { return operation == .lock ? SQLITE_OK : SQLITE_IOERR }
      switch (folder.fault, operation) {
      case (.cannotLock, .lock): return lockFailed
      case (nil, _), (_, .lock), (.cannotLock, _), (.cannotUnlockOnce, _), (.cannotUnlock, _),
        (.cannotLockForWriting, _), (.notSynchronized, .write):
        return SQLITE_OK
      case (.full, _): return SQLITE_FULL
      case (.fullAfter(let operations), _):
        guard operations > 0 else { return SQLITE_FULL }
        folder.fault = .fullAfter(operations: operations - 1)
        folders[open.folder] = folder
        return SQLITE_OK
      case (.powerCutAfter(let operations), _):
        if operations > 0 { folder.fault = .powerCutAfter(operations: operations - 1) } else { folder.cutPower() }
        folders[open.folder] = folder
        return operations > 0 ? SQLITE_OK : SQLITE_IOERR
      case (.inputOutput, _): return SQLITE_IOERR
      case (.readOnly, _): return SQLITE_READONLY
      case (.notSynchronized, .sync):
        errno = EIO
        return syncFailed
      case (.system(let error, let atSyncOnly), .write):
        if atSyncOnly { return SQLITE_OK }
        errno = error
        // As in SQLite's own VFS.
        return error == ENOSPC ? SQLITE_FULL : writeFailed
      case (.system(let error, _), .sync):
        errno = error
        return syncFailed
      }
    }
    return (open, code)
  }

  /// Whether an unlock must fail as if the system refused it; the default VFS keeps the lock.
  private static func unlockFails(_ file: UnsafeMutablePointer<sqlite3_file>?, readMark: Int32) -> Bool {
    let number = number(file)
    guard let open = files.withLock({ $0.open[number] }) else { return false }
    return CrashableFiles.folders.withLock { folders in
      guard var folder = folders[open.folder] else { return false }
      if case .cannotUnlock? = folder.fault { return true }
      guard case .cannotUnlockOnce? = folder.fault, readMark == 1 else { return false }
      folder.fault = nil
      folders[open.folder] = folder
      return true
    }
  }

  /// Whether the lock for writing must fail as if another process had it.
  private static func writeLockFails(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Bool {
    let number = number(file)
    guard let open = files.withLock({ $0.open[number] }) else { return false }
    return CrashableFiles.folders.withLock { folders in
      guard var folder = folders[open.folder], case .cannotLockForWriting(let attempts)? = folder.fault else {
        return false
      }
      folder.fault = attempts > 1 ? .cannotLockForWriting(attempts: attempts - 1) : nil
      folders[open.folder] = folder
      return true
    }
  }

  private static func size(_ wrapped: UnsafeMutablePointer<sqlite3_file>) -> Int64 {
    var size: sqlite3_int64 = 0
    _ = wrapped.pointee.pMethods.pointee.xFileSize(wrapped, &size)
    return size
  }

  private static func write(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    guard let wrapped = wrapped(file), let io = wrapped.pointee.pMethods else { return SQLITE_ERROR }
    let (open, code) = verdict(file, .write)
    guard code == SQLITE_OK else { return code }
    if let open {
      let size = size(wrapped)
      let length = max(0, min(Int64(count), size - offset))
      let old = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, initialized in
        if length > 0 { _ = io.pointee.xRead(wrapped, buffer.baseAddress, Int32(length), offset) }
        initialized = Int(length)
      }
      CrashableFiles.folders.withLock {
        $0.modifyIfPresent(open.folder) {
          $0.unsynced[open.path, default: []].append(.init(offset: offset, old: old, size: size))
        }
      }
    }
    return io.pointee.xWrite(wrapped, bytes, count, offset)
  }

  private static func truncate(_ file: UnsafeMutablePointer<sqlite3_file>?, _ length: sqlite3_int64) -> Int32 {
    guard let wrapped = wrapped(file), let io = wrapped.pointee.pMethods else { return SQLITE_ERROR }
    let (open, code) = verdict(file, .write)
    guard code == SQLITE_OK else { return code }
    if let open {
      let size = size(wrapped)
      let cut = max(0, size - length)
      let old = [UInt8](unsafeUninitializedCapacity: Int(cut)) { buffer, initialized in
        if cut > 0 { _ = io.pointee.xRead(wrapped, buffer.baseAddress, Int32(cut), length) }
        initialized = Int(cut)
      }
      CrashableFiles.folders.withLock {
        $0.modifyIfPresent(open.folder) {
          $0.unsynced[open.path, default: []].append(.init(offset: length, old: old, size: size))
        }
      }
    }
    return io.pointee.xTruncate(wrapped, length)
  }

  private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
    guard let wrapped = wrapped(file) else { return SQLITE_ERROR }
    let (open, code) = verdict(file, .sync)
    guard code == SQLITE_OK else { return code }
    guard let open else { return wrapped.pointee.pMethods.pointee.xSync(wrapped, flags) }
    // Watched files need no real sync, because this layer simulates the disk.
    CrashableFiles.folders.withLock {
      $0.modifyIfPresent(open.folder) { folder in
        folder.unsynced[open.path] = nil
        folder.syncs += 1
      }
    }
    return SQLITE_OK
  }

  private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    let number = number(file)
    guard let wrapped = wrapped(file), wrapped.pointee.pMethods != nil else { return SQLITE_OK }
    let code = wrapped.pointee.pMethods.pointee.xClose(wrapped)
    files.withLock { _ = $0.open.removeValue(forKey: number) }
    return code
  }

  private static func ioMethods() -> sqlite3_io_methods {
    var io = sqlite3_io_methods()
    io.iVersion = 3
    io.xClose = { FaultInjectionVFS.close($0) }
    io.xRead = { file, bytes, count, offset in
      FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xRead($0, bytes, count, offset) }
        ?? SQLITE_ERROR
    }
    io.xWrite = { FaultInjectionVFS.write($0, $1, $2, $3) }
    io.xTruncate = { FaultInjectionVFS.truncate($0, $1) }
    io.xSync = { FaultInjectionVFS.sync($0, $1) }
    io.xFileSize = { file, size in
      FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xFileSize($0, size) } ?? SQLITE_ERROR
    }
    io.xFileControl = { file, operation, argument in
      FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xFileControl($0, operation, argument) }
        ?? SQLITE_ERROR
    }
    io.xSectorSize = {
      FaultInjectionVFS.wrapped($0).map { $0.pointee.pMethods.pointee.xSectorSize($0) }
        ?? FaultInjectionVFS.defaultSectorSize
    }
    io.xDeviceCharacteristics = {
      FaultInjectionVFS.wrapped($0).map { $0.pointee.pMethods.pointee.xDeviceCharacteristics($0) }
        ?? FaultInjectionVFS.noCharacteristics
    }
    // Disables memory mapping, so that every read and write passes through this layer.
    io.xFetch = { _, _, _, address in
      if let address { address.pointee = nil }
      return SQLITE_OK
    }
    io.xUnfetch = { _, _, _ in SQLITE_OK }
    addLockMethods(&io)
    addSharedMemoryMethods(&io)
    return io
  }

  private static func addLockMethods(_ io: inout sqlite3_io_methods) {
    io.xLock = { file, level in
      let code = FaultInjectionVFS.verdict(file, .lock).code
      guard code == SQLITE_OK else { return code }
      return FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xLock($0, level) } ?? SQLITE_ERROR
    }
    io.xUnlock = { file, level in
      FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xUnlock($0, level) } ?? SQLITE_ERROR
    }
    io.xCheckReservedLock = { file, result in
      FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xCheckReservedLock($0, result) } ?? SQLITE_ERROR
    }
  }

  private static func addSharedMemoryMethods(_ io: inout sqlite3_io_methods) {
    io.xShmMap = { file, page, size, extend, address in
      FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xShmMap($0, page, size, extend, address) }
        ?? SQLITE_ERROR
    }
    io.xShmLock = { file, offset, count, flags in
      if offset >= 4, flags == SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE,
        FaultInjectionVFS.unlockFails(file, readMark: offset - 3)
      {
        return SQLITE_BUSY
      }
      if offset == 0, flags == SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE, FaultInjectionVFS.writeLockFails(file) {
        return SQLITE_BUSY
      }
      return FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xShmLock($0, offset, count, flags) }
        ?? SQLITE_ERROR
    }
    io.xShmBarrier = { file in
      if let wrapped = FaultInjectionVFS.wrapped(file) { wrapped.pointee.pMethods.pointee.xShmBarrier(wrapped) }
    }
    io.xShmUnmap = { file, delete in
      FaultInjectionVFS.wrapped(file).map { $0.pointee.pMethods.pointee.xShmUnmap($0, delete) } ?? SQLITE_ERROR
    }
  }
}
