/**
 * A JSON object around the events of an export, a page of an API or a delivery. `list` is the key of the events. `metadata` are the keys that
 * may stand beside it and say nothing about the events. `carried` are keys whose texts become fields of every event.
 */
export type Envelope = { list: string; metadata: readonly string[]; carried?: readonly string[] };

const pages = [
  'next', 'nextLink', 'nextPageToken', 'nextToken', 'NextToken', 'next_page_token', 'next_cursor', 'next_page', 'cursor', 'has_more', 'hasMore',
  'pagination', 'paging', 'page', 'links', 'count', 'total', 'offset', 'limit', 'size',
]; // prettier-ignore

/** An object is an envelope if its other keys than `list` are all among the metadata of one of these. */
export const envelopes: readonly Envelope[] = [
  // AWS: CloudTrail and notifications of S3, SQS and SNS; `lookup-events`; GuardDuty and Security Hub.
  { list: 'Records', metadata: [] },
  { list: 'Events', metadata: pages },
  { list: 'Findings', metadata: pages },
  // CloudWatch Logs: subscriptions, then `filter-log-events` and `get-log-events`.
  { list: 'logEvents', metadata: ['messageType', 'subscriptionFilters', 'policyLevel'], carried: ['owner', 'logGroup', 'logStream'] },
  { list: 'events', metadata: [...pages, 'searchedLogStreams', 'nextForwardToken', 'nextBackwardToken', 'message', 'pageStartAt', 'pageEndAt'] },
  // Azure: diagnostic settings (Event Hubs, storage), and pages of Microsoft Graph, Defender and Azure Resource Manager.
  { list: 'records', metadata: [...pages, 'totalSize', 'done', 'nextRecordsUrl'] },
  { list: 'value', metadata: [...pages, '@odata.context', '@odata.count', '@odata.nextLink', '@odata.deltaLink', '@nextLink'] },
  // Kubernetes (`EventList`, `List`), Google Workspace, 1Password and Sophos Central.
  { list: 'items', metadata: [...pages, 'kind', 'apiVersion', 'metadata', 'etag'] },
  // Google Cloud Logging, Slack and Box.
  { list: 'entries', metadata: [...pages, 'response_metadata', 'ok', 'chunk_size', 'next_stream_position'] },
  // Atlassian, SentinelOne, Netskope, Cisco, Bitwarden and others.
  { list: 'data', metadata: [...pages, 'object', 'continuationToken', 'first_id', 'last_id', 'meta', 'metadata', 'errors', 'version', 'jsonapi', 'status', 'success', 'ok', 'msg', 'message'] },
  // CrowdStrike, Cloudflare, ServiceNow and Netskope, Splunk, Elastic and others.
  { list: 'resources', metadata: ['meta', 'errors'] },
  { list: 'result', metadata: [...pages, 'result_info', 'success', 'errors', 'messages', 'ok', 'wait_time', 'timestamp_hwm', 'status'] },
  { list: 'results', metadata: [...pages, 'preview', 'init_offset', 'messages', 'fields', 'highlighted', 'post_process_count', 'previous', 'status', 'success'] },
  // Tailscale, Auth0 and other APIs of logs.
  { list: 'logs', metadata: [...pages, 'version', 'tailnetId', 'start', 'length'] },
]; // prettier-ignore
