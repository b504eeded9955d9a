// Tests: CheckTests.swift
import GRDB
import GraphModel
import GraphStore

extension CheckedStore {
  /// Runs a step; a step that fails reports why, and the next one runs anyway.
  /// - Throws: `TemporaryFileFailure`, after which the check has no result.
  func attempt(_ what: String, _ step: () throws -> Void) throws {
    do {
      try step()
    } catch let failure as TemporaryFileFailure {
      throw failure
    } catch let failure as MalformedMessage {
      report(.integrity, .init(), "\(what) can't be decoded: \(failure.reason)")
    } catch let failure as StoreFailure {
      report(.integrity, .init(), "\(what) can't be read: \(failure.cause.isEmpty ? failure.sentence : failure.cause)")
    } catch let error as DatabaseError {
      report(.integrity, .init(), "\(what) can't be read: \(error.reason)")
    } catch {
      report(.integrity, .init(), "\(what) can't be read: \(error)")
    }
  }

  /// Whether the model has this entity, or had it in an older version.
  func isKnown(_ entity: EntityNumber) -> Bool {
    if model.entity(entity) != nil { return true }
    return layout.versions.contains {
      $0.model.entity($0.numbers.present(entity: entity & ~NumberAssignment.retired)) != nil
    }
  }

  func layoutVersion() throws -> Int32 { try LayoutVersion.read(database).layout }

  /// Whether the store has a `_part` table, which older layouts lack.
  func hasPartTable() throws -> Bool { try layoutVersion() >= 2 }
}
