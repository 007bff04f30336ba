import type { CatalogField } from '../../log-store/catalog/catalog.ts';
import { storedColumnsMax } from '../../log-store/catalog/stored-columns.ts';
import { typedSql } from './field-sql.ts';
import { duck, fromInstantSql, instantSql, noText, quoteIdentifier, timestampSql, type SqlText } from './sql-text.ts';

/** A column of the catalog with its position there. */
export type TableColumn = { field: CatalogField; position: number };

/** How to read Parquet files of one format: its two times, and its columns of events. */
export type ParquetReader = {
  /** Returns a constant to compare the times with. */
  boundSql: (micros: number) => SqlText;
  timeSql: (name: '_time' | '_ingested') => SqlText;
  /** Returns the value of a catalog column, or undefined if it has to be read from the event. */
  valueSql: (column: TableColumn, counts: ColumnCounts) => SqlText | undefined;
};

/** The largest number of columns of the files, and the number of stored columns that the catalog knows. */
type ColumnCounts = { inFiles: number; known: number };

export const parquetReaders: Record<'typed' | 'parquet', ParquetReader> = {
  typed: {
    boundSql: instantSql,
    timeSql: (name) => fromInstantSql(quoteIdentifier(name)),
    valueSql({ field }, { inFiles, known }) {
      const { stored, type } = field;
      // A field without a stored column has been null in all files, unless they had no room for it or are newer than the catalog.
      const isNull = type === 'NULL' || (inFiles < storedColumnsMax && inFiles <= known);
      if (!stored) return isNull ? typedSql(field, noText) : undefined;
      if (stored.position >= inFiles) return typedSql(field, noText);
      const value = quoteIdentifier(stored.name);
      if (stored.type === 'VARCHAR' || stored.type === 'JSON') return typedSql(field, value);
      if (stored.type !== type) return undefined;
      if (type === 'TIMESTAMP') return fromInstantSql(value);
      return type === 'TIMESTAMP[]' ? duck`CAST(${value} AS TIMESTAMP[])` : value;
    },
  },
  parquet: {
    boundSql: timestampSql,
    timeSql: (name) => quoteIdentifier(name),
    valueSql({ field, position }, { inFiles }) {
      if (position >= storedColumnsMax) return undefined;
      return typedSql(field, position < inFiles ? duck`c${position}` : noText);
    },
  },
};
