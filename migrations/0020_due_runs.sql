-- Runs of one slot are spread over up to an hour, so most queued runs may not start yet. A claim finds the lanes of those that may.
create index run_queue_due on run_queue (start_at, organization_id, kind) where state = 'queued';
