// Tests: CheckTests.swift, BitFlipTests.swift
import GRDB
import GraphModel

/// A store that is checked over one connection: its layout, its objects, and the findings so far.
package struct CheckedStore {
  package let layout: StoreLayout
  package let objects: ObjectReader
  /// The rows of the model versions before the present one.
  package let olderRows: UnmigratedRows
  package let findings: FindingList

  package init(_ connection: Connection, layout: StoreLayout, findings: FindingList) {
    self.layout = layout
    self.findings = findings
    objects = ObjectReader(connection, layout: layout)
    olderRows = UnmigratedRows(connection, EarlierVersions(layout))
  }

  /// The same store with another list of findings.
  init(_ store: CheckedStore, findings: FindingList) {
    (layout, objects, olderRows) = (store.layout, store.objects, store.olderRows)
    self.findings = findings
  }

  package var model: Model { layout.model }

  package var connection: Connection { objects.connection }

  package var database: Database { connection.database }

  package func report(_ kind: StoreFinding.Kind, _ place: StoreFinding.Place = .init(), _ text: String) {
    findings.add(kind, place, text: text)
  }
}
