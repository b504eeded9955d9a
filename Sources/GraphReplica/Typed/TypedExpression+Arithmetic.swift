// Tests: TypedPredicateTests.swift
import GraphModel

/// The four operators, between expressions of one kind and with constants. Kinds are never converted implicitly: use
/// `asDouble` or `asDecimal`.
extension TypedExpression where Kind: NumberKind, Cardinality: SingleCardinality {
  private static func combining(
    _ operation: ArithmeticOperator, _ left: @escaping (Int) -> GraphExpression,
    _ right: @escaping (Int) -> GraphExpression
  ) -> TypedExpression<Kind, CalculatedValue> {
    TypedExpression<Kind, CalculatedValue> { .arithmetic(operation, Kind.arithmetic, left($0), right($0)) }
  }

  private static func constant(_ plain: Kind.Constant) -> (Int) -> GraphExpression {
    let value = Kind.value(plain)
    return { _ in .value(value) }
  }

  /// The sum with a number.
  public static func + (left: Self, right: Kind.Constant) -> TypedExpression<Kind, CalculatedValue> {
    combining(.add, left.build, constant(right))
  }

  /// The difference from a number.
  public static func - (left: Self, right: Kind.Constant) -> TypedExpression<Kind, CalculatedValue> {
    combining(.subtract, left.build, constant(right))
  }

  /// The product with a number.
  public static func * (left: Self, right: Kind.Constant) -> TypedExpression<Kind, CalculatedValue> {
    combining(.multiply, left.build, constant(right))
  }

  /// The quotient by a number; whole numbers are truncated towards zero. Null for a division by zero.
  public static func / (left: Self, right: Kind.Constant) -> TypedExpression<Kind, CalculatedValue> {
    combining(.divide, left.build, constant(right))
  }

  /// The sum of a number and an expression.
  public static func + (left: Kind.Constant, right: Self) -> TypedExpression<Kind, CalculatedValue> {
    combining(.add, constant(left), right.build)
  }

  /// The difference of a number and an expression.
  public static func - (left: Kind.Constant, right: Self) -> TypedExpression<Kind, CalculatedValue> {
    combining(.subtract, constant(left), right.build)
  }

  /// The product of a number and an expression.
  public static func * (left: Kind.Constant, right: Self) -> TypedExpression<Kind, CalculatedValue> {
    combining(.multiply, constant(left), right.build)
  }

  /// The quotient of a number by an expression; null by zero.
  public static func / (left: Kind.Constant, right: Self) -> TypedExpression<Kind, CalculatedValue> {
    combining(.divide, constant(left), right.build)
  }

  /// The sum of two expressions.
  public static func + <Other: SingleCardinality>(
    left: Self, right: TypedExpression<Kind, Other>
  ) -> TypedExpression<Kind, CalculatedValue> { combining(.add, left.build, right.build) }

  /// The difference of two expressions.
  public static func - <Other: SingleCardinality>(
    left: Self, right: TypedExpression<Kind, Other>
  ) -> TypedExpression<Kind, CalculatedValue> { combining(.subtract, left.build, right.build) }

  /// The product of two expressions.
  public static func * <Other: SingleCardinality>(
    left: Self, right: TypedExpression<Kind, Other>
  ) -> TypedExpression<Kind, CalculatedValue> { combining(.multiply, left.build, right.build) }

  /// The quotient of two expressions; whole numbers are truncated towards zero. Null for a division by zero.
  public static func / <Other: SingleCardinality>(
    left: Self, right: TypedExpression<Kind, Other>
  ) -> TypedExpression<Kind, CalculatedValue> { combining(.divide, left.build, right.build) }
}
