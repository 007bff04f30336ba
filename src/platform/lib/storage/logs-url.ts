/** A bucket of object storage. `prefix` is empty or ends with a slash. Without `endpoint`, the bucket is in AWS. */
export type BucketAddress = {
  bucket: string;
  prefix: string;
  endpoint: string | undefined;
  region: string | undefined;
};

/** Reads the address of log storage. Returns null for the data directory, or what is wrong. */
export function parseLogsUrl(text: string): BucketAddress | null | string {
  if (text === 'file:') return null;
  const url = URL.parse(text);
  if (url?.protocol !== 's3:') return 'must be file: or begin with s3://';
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host)) return 'must name a bucket: s3://BUCKET/PREFIX';
  if (url.username !== '' || url.password !== '')
    return 'must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'endpoint' && name !== 'region');
  if (unknown !== undefined) return `has the unknown parameter ${unknown}: only endpoint and region are allowed`;
  const endpoint = url.searchParams.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    return 'must have an endpoint that begins with http:// or https://';
  const path = decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, '');
  return {
    bucket: url.host,
    prefix: path === '' ? '' : `${path}/`,
    endpoint,
    region: url.searchParams.get('region') ?? undefined,
  };
}
