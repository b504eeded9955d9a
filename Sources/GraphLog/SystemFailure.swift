// Tests: LogFailureTests.swift, OpeningTests.swift
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension StoreFailure {
  /// The failure for an error of a system call.
  package static func system(_ sentence: String, _ code: Int32) -> StoreFailure {
    known(sentence, code, on: nil)
      ?? StoreFailure(
        .inputOutput, sentence, cause: String(cString: strerror(code)), advice: "Check the disk and the path.")
  }

  /// The failure for an error of a system call whose cause and remedy are known.
  /// - Parameter subject: what is stored on the disk; if not nil, a full disk becomes the sentence.
  /// - Returns: nil for errors that only say that the disk failed.
  package static func known(_ sentence: String, _ code: Int32, on subject: String?) -> StoreFailure? {
    let cause = String(cString: strerror(code))
    switch code {
    case EACCES, EPERM:
      return StoreFailure(.readOnly, sentence, cause: cause, advice: "Give this user the right to write there.")
    case EROFS:
      return StoreFailure(
        .readOnly, sentence, cause: cause,
        advice: "Mount the file system for writing, or copy the directory to another one.")
    case ENOSPC:
      return StoreFailure(
        .full, subject.map { "the disk that holds \($0) is full" } ?? sentence, cause: cause,
        advice: "Free some space on that disk; nothing was lost.")
    case EDQUOT:
      return StoreFailure(
        .full, subject.map { "this user's quota on the disk that holds \($0) is used up" } ?? sentence, cause: cause,
        advice: "Delete some of this user's files, or raise the quota; nothing was lost.")
    case EMFILE:
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      return StoreFailure(
        .noDescriptors, sentence, cause: "\(cause): this process may have \(limit.rlim_cur) open",
        advice: "Raise that limit (ulimit -n, LimitNOFILE in a unit of systemd) and start stickiesd again.")
    case ENFILE:
      return StoreFailure(
        .noDescriptors, sentence, cause: cause,
        advice: "Raise the system's limit (sysctl fs.file-max), or end programs that have many files open.")
    default: return nil
    }
  }
}
