import type { ParamsOption, RequestBodyOption } from 'openapi-fetch';
import type {
  FilterKeys,
  MediaType,
  PathsWithMethod,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from 'openapi-typescript-helpers';
import type { paths } from './schema.d.ts';

export type Method = 'get' | 'post' | 'put' | 'delete';

export type RequestOptions = {
  /** Aborts the request and its retries. */
  signal?: AbortSignal;
  /** Longest time of one try. Default: that of the client. */
  timeoutMs?: number;
  /** Further headers. */
  headers?: Record<string, string>;
};

type Operation<M extends Method, P extends keyof paths> = FilterKeys<paths[P], M>;
type Init<Op> = ParamsOption<Op> & RequestBodyOption<Op> & RequestOptions;

/** The arguments of an operation: parameters, body and options. Optional if the operation requires nothing. */
export type InitArguments<M extends Method, P extends keyof paths> =
  RequiredKeysOf<Init<Operation<M, P>>> extends never ? [init?: Init<Operation<M, P>>] : [init: Init<Operation<M, P>>];

/** The result of an operation. */
export type ResponseBody<M extends Method, P extends keyof paths> =
  Operation<M, P> extends Record<string | number, unknown>
    ? SuccessResponse<ResponseObjectMap<Operation<M, P>>, MediaType>
    : never;

/** Sends a request and returns the body of the response. */
export type Send<M extends Method> = <P extends PathsWithMethod<paths, M>>(
  path: P,
  ...init: InitArguments<M, P>
) => Promise<ResponseBody<M, P>>;

type QueryOf<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Query } } }
  ? keyof NonNullable<Query>
  : never;

/** The lists that have pages: by cursor, by number, or (exports and TAXII) by the address of the next page. */
export type PagedPath = {
  [P in PathsWithMethod<paths, 'get'>]: Extract<QueryOf<P>, 'cursor' | 'page' | 'after' | 'next'> extends never
    ? never
    : P;
}[PathsWithMethod<paths, 'get'>];

/** The lists whose pages have one array, that of the list's entries. */
export type ListPath = {
  [P in PagedPath]: Entry<P> extends never ? never : P;
}[PagedPath];

/** An entry of a list. */
export type Entry<P extends PagedPath> = ArraysOf<ResponseBody<'get', P>>;
type ArraysOf<Body> = Body extends { nextCursor?: string | null } | { hasNext: boolean }
  ? { [K in keyof Body]-?: Body[K] extends (infer One)[] ? One : never }[keyof Body]
  : never;
