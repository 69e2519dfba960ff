#include <malloc.h>
#include <sys/epoll.h>
