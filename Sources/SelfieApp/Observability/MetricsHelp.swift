/// A sentence for each figure.
enum MetricsHelp {
    static let texts = [
        "http_requests_total": "Requests that were answered, by endpoint, method and status.",
        "http_request_duration_seconds": "Time until the whole answer was handed over, by endpoint and method.",
        "http_requests_in_progress": "Requests that are under way.",
        "http_connections": "Connections of clients.",
        "http_connections_refused_total": "Connections that were closed because there were too many.",
        "http_received_bytes_total": "Bytes from clients.",
        "http_sent_bytes_total": "Bytes to clients.",
        "refusals_total": "Requests that a limit refused, by limit.",
        "postgres_connections": "Connections to the database that are open or being opened.",
        "postgres_waiting": "Callers that wait for a connection to the database.",
        "postgres_wait_duration_seconds": "How long callers waited for a connection to the database.",
        "postgres_statement_duration_seconds": "How long statements took, by their name.",
        "postgres_errors_total": "Statements that failed, by the class of their SQLSTATE, or by another kind.",
        "store_call_duration_seconds": "How long calls to the store took, by call and outcome.",
        "store_retries_total": "Requests to the bucket that were tried again.",
        "spool_memory_bytes": "Bytes of uploads in memory that wait for the store.",
        "spool_disk_bytes": "Bytes of uploads in temporary files that wait for the store.",
        "object_deletions_waiting": "Objects that are still to be deleted, of all processes together.",
        "password_hashes_waiting": "Passwords that wait for a thread to be hashed.",
        "process_resident_memory_bytes": "Memory in use.",
        "process_open_fds": "Open files and sockets.",
        "process_max_fds": "How many files and sockets may be open.",
        "process_cpu_seconds_total": "Processor time.",
        "selfie_build_info": "1; the labels tell the version and the last migration that it needs.",
    ]
}
